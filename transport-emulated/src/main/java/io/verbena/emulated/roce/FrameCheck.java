// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.emulated.lock.PacketLock;
import java.nio.ByteBuffer;

/** Checks the bytes of a packet before any field is read. */
final class FrameCheck {
  private static final int LEAST = BthLayout.END + Icrc.LENGTH;

  private FrameCheck() {}

  /**
   * Checks the lengths, the IP and UDP headers, and the transport version.
   *
   * @param overIpv6 whether the packet has an IPv6 header, which is kept apart and needs no check
   */
  static FrameFault envelope(ByteBuffer bytes, int length, boolean overIpv6) {
    if (length < LEAST) {
      return FrameFault.TOO_SHORT;
    }
    if (length > Frame.CAPACITY) {
      return FrameFault.TOO_LONG;
    }
    FrameFault ip = overIpv6 ? FrameFault.NONE : ip(bytes, length);
    if (ip != FrameFault.NONE) {
      return ip;
    }
    if (BigEndian.getShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET) != Frame.UDP_PORT) {
      return FrameFault.UDP_PORT;
    }
    if (BigEndian.getShort(bytes, UdpLayout.LENGTH_OFFSET) != length - Ipv4Layout.LENGTH) {
      return FrameFault.UDP_LENGTH;
    }
    return switch (bytes.get(BthLayout.FLAGS_OFFSET) & BthLayout.VERSION_MASK) {
      case 0 -> FrameFault.NONE;
      case BthLayout.SEALED ->
          length < LEAST + PacketLock.OVERHEAD ? FrameFault.TOO_SHORT : FrameFault.NONE;
      default -> FrameFault.TRANSPORT_VERSION;
    };
  }

  private static FrameFault ip(ByteBuffer bytes, int length) {
    if (bytes.get(Ipv4Layout.VERSION_AND_LENGTH_OFFSET) != Ipv4Layout.VERSION_AND_LENGTH) {
      return FrameFault.IP_VERSION;
    }
    if (BigEndian.getShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET) != length) {
      return FrameFault.IP_LENGTH;
    }
    if (Ipv4Layout.checksum(bytes) != 0) {
      return FrameFault.IP_CHECKSUM;
    }
    int fragment = BigEndian.getShort(bytes, Ipv4Layout.FLAGS_AND_FRAGMENT_OFFSET);
    if ((fragment & Ipv4Layout.IS_FRAGMENT_MASK) != 0) {
      return FrameFault.IP_FRAGMENT;
    }
    return bytes.get(Ipv4Layout.PROTOCOL_OFFSET) == Ipv4Layout.UDP_PROTOCOL
        ? FrameFault.NONE
        : FrameFault.IP_PROTOCOL;
  }

  /**
   * Checks the part after the headers.
   *
   * @param padded the number of bytes of that part without the ICRC; negative if the headers do not
   *     fit
   */
  static FrameFault payload(PacketOpcode opcode, int padded, int pad) {
    if (padded < 0) {
      return FrameFault.TOO_SHORT;
    }
    if (padded < pad || (padded & 3) != 0) {
      return FrameFault.PAD;
    }
    int payload = padded - pad;
    return payload <= (opcode.carriesPayload() ? Frame.MAX_PAYLOAD : 0)
        ? FrameFault.NONE
        : FrameFault.PAYLOAD_LENGTH;
  }
}
