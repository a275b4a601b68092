// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.emulated.crypto.PacketCipher;
import java.nio.ByteBuffer;

/** Checks the bytes of a packet before any field is read. */
final class PacketCheck {
  private static final int LEAST = BthLayout.END + Icrc.LENGTH;

  private PacketCheck() {}

  /**
   * Checks the lengths, the IP and UDP headers, and the transport version.
   *
   * @param overIpv6 whether the packet has an IPv6 header, which is kept apart and needs no check
   */
  static PacketFault envelope(ByteBuffer bytes, int length, boolean overIpv6) {
    if (length < LEAST) {
      return PacketFault.TOO_SHORT;
    }
    if (length > RocePacket.CAPACITY) {
      return PacketFault.TOO_LONG;
    }
    PacketFault ip = overIpv6 ? PacketFault.NONE : ip(bytes, length);
    if (ip != PacketFault.NONE) {
      return ip;
    }
    if (BigEndian.getShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET) != RocePacket.UDP_PORT) {
      return PacketFault.UDP_PORT;
    }
    if (BigEndian.getShort(bytes, UdpLayout.LENGTH_OFFSET) != length - Ipv4Layout.LENGTH) {
      return PacketFault.UDP_LENGTH;
    }
    return switch (bytes.get(BthLayout.FLAGS_OFFSET) & BthLayout.VERSION_MASK) {
      case 0 -> PacketFault.NONE;
      case BthLayout.SEALED ->
          length < LEAST + PacketCipher.OVERHEAD ? PacketFault.TOO_SHORT : PacketFault.NONE;
      default -> PacketFault.TRANSPORT_VERSION;
    };
  }

  private static PacketFault ip(ByteBuffer bytes, int length) {
    if (bytes.get(Ipv4Layout.VERSION_AND_LENGTH_OFFSET) != Ipv4Layout.VERSION_AND_LENGTH) {
      return PacketFault.IP_VERSION;
    }
    if (BigEndian.getShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET) != length) {
      return PacketFault.IP_LENGTH;
    }
    if (Ipv4Layout.checksum(bytes) != 0) {
      return PacketFault.IP_CHECKSUM;
    }
    int fragment = BigEndian.getShort(bytes, Ipv4Layout.FLAGS_AND_FRAGMENT_OFFSET);
    if ((fragment & Ipv4Layout.IS_FRAGMENT_MASK) != 0) {
      return PacketFault.IP_FRAGMENT;
    }
    return bytes.get(Ipv4Layout.PROTOCOL_OFFSET) == Ipv4Layout.UDP_PROTOCOL
        ? PacketFault.NONE
        : PacketFault.IP_PROTOCOL;
  }

  /**
   * Checks the part after the headers.
   *
   * @param padded the number of bytes of that part without the ICRC; negative if the headers do not
   *     fit
   */
  static PacketFault payload(PacketOpcode opcode, int padded, int pad) {
    if (padded < 0) {
      return PacketFault.TOO_SHORT;
    }
    if (padded < pad || (padded & 3) != 0) {
      return PacketFault.PAD;
    }
    int payload = padded - pad;
    return payload <= (opcode.carriesPayload() ? RocePacket.MAX_PAYLOAD : 0)
        ? PacketFault.NONE
        : PacketFault.PAYLOAD_LENGTH;
  }
}
