// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * The invariant CRC of a packet, which covers all bits that no router may change. Fields that may
 * change count as ones: IP type of service, time to live and checksum (with IPv6, traffic class,
 * flow label and hop limit), UDP checksum, and the congestion bits of the BTH. 8 bytes of ones
 * stand for the InfiniBand link header. The CRC is the CRC-32 of Ethernet, appended in
 * little-endian order (IBTA volume 1, invariant CRC; annex on RoCEv2).
 *
 * <p>Not thread-safe.
 */
public final class Icrc {
  /** The number of bytes of the CRC, which follows the pad. */
  public static final int LENGTH = 4;

  /** The result of {@link #identification} if no identification fits. */
  public static final int NO_IDENTIFICATION = -1;

  private static final int LINK_HEADER_LENGTH = 8;
  private static final int ONES = 0xff;

  /** The offset after version, traffic class and flow label, the first word of an IPv6 header. */
  private static final int FIXED_OFFSET = Integer.BYTES;

  /** Version 6, and the first 4 bits of the traffic class as ones. */
  private static final byte VERSION_AND_CLASS = 0x6f;

  private final CRC32 crc = new CRC32();
  private final byte[] masked = new byte[LINK_HEADER_LENGTH + BthLayout.END];
  private final byte[] masked6 = new byte[LINK_HEADER_LENGTH + Ipv6Layout.LENGTH];

  private static final int[] NONE = {};

  /**
   * Factors that rewind the CRC over a number of bytes, by that number; 0 where not computed yet. A
   * cache, since packets alternate between few lengths. Used only for packets from connected UDP
   * sockets.
   */
  private int[] rewindFactors = NONE;

  /**
   * Computes the CRC of a packet.
   *
   * @param packet the packet from its IP header on, at index 0, with position 0
   * @param length the number of its bytes without the ICRC; at least the IP, UDP and BTH headers
   */
  public int compute(ByteBuffer packet, int length) {
    Arrays.fill(masked, 0, LINK_HEADER_LENGTH, (byte) ONES);
    packet.limit(length).get(masked, LINK_HEADER_LENGTH, BthLayout.END);
    mask(Ipv4Layout.TYPE_OF_SERVICE_OFFSET);
    mask(Ipv4Layout.TIME_TO_LIVE_OFFSET);
    mask(Ipv4Layout.CHECKSUM_OFFSET);
    mask(Ipv4Layout.CHECKSUM_OFFSET + 1);
    maskTransport();
    crc.reset();
    crc.update(masked, 0, masked.length);
    crc.update(packet);
    packet.clear();
    return (int) crc.getValue();
  }

  /**
   * Computes the CRC of a packet over IPv6.
   *
   * @param header its IPv6 header
   * @param packet the rest of the packet, from the offset of a UDP header after an IPv4 header on
   * @param length the number of bytes up to the ICRC, from offset 0 of {@code packet} on
   */
  public int compute(ByteBuffer header, ByteBuffer packet, int length) {
    Arrays.fill(masked6, (byte) ONES);
    header.get(
        FIXED_OFFSET, masked6, LINK_HEADER_LENGTH + FIXED_OFFSET, Ipv6Layout.LENGTH - FIXED_OFFSET);
    masked6[LINK_HEADER_LENGTH] = VERSION_AND_CLASS;
    masked6[LINK_HEADER_LENGTH + Ipv6Layout.HOP_LIMIT_OFFSET] = (byte) ONES;
    packet.limit(length).get(masked, LINK_HEADER_LENGTH, BthLayout.END);
    maskTransport();
    crc.reset();
    crc.update(masked6, 0, masked6.length);
    int transport = LINK_HEADER_LENGTH + Ipv4Layout.LENGTH;
    crc.update(masked, transport, masked.length - transport);
    crc.update(packet);
    packet.clear();
    return (int) crc.getValue();
  }

  private void maskTransport() {
    mask(UdpLayout.CHECKSUM_OFFSET);
    mask(UdpLayout.CHECKSUM_OFFSET + 1);
    mask(BthLayout.CONGESTION_OFFSET);
  }

  /** Returns the CRC that a packet carries after its first {@code length} bytes. */
  public static int read(ByteBuffer packet, int length) {
    return Integer.reverseBytes(packet.getInt(length));
  }

  /** Appends a CRC to the first {@code length} bytes of a packet. */
  public static void write(ByteBuffer packet, int length, int icrc) {
    packet.putInt(length, Integer.reverseBytes(icrc));
  }

  /**
   * Computes the identification of an IP header, which a UDP receiver does not see, from the CRC,
   * which covers it. A CRC is linear: the difference from the CRC with identification 0 is the
   * contribution of these 16 bits alone, and rewinding it over all bytes after them yields the
   * bits. 16 of the 32 bits of the CRC are left to check the packet.
   *
   * @param packet the packet, with identification 0, from position 0 on
   * @param length the number of its bytes without the ICRC, less than {@link RocePacket#CAPACITY}
   * @param icrc the CRC of the packet as received
   * @return 0 to 0xffff, or {@link #NO_IDENTIFICATION} if the packet is damaged
   */
  public int identification(ByteBuffer packet, int length, int icrc) {
    int difference = icrc ^ compute(packet, length);
    if (difference == 0) {
      return 0;
    }
    int behind = length - Ipv4Layout.IDENTIFICATION_OFFSET;
    if (rewindFactors.length == 0) {
      rewindFactors = new int[RocePacket.CAPACITY];
    }
    if (rewindFactors[behind] == 0) {
      rewindFactors[behind] = CrcField.inversePowerOfX(Byte.SIZE * behind);
    }
    int start = CrcField.multiply(difference, rewindFactors[behind]);
    // The first byte of the identification is the low one here, since the CRC starts at the low
    // bit.
    return start >>> Short.SIZE == 0
        ? Short.reverseBytes((short) start) & 0xffff
        : NO_IDENTIFICATION;
  }

  private void mask(int offset) {
    masked[LINK_HEADER_LENGTH + offset] = (byte) ONES;
  }
}
