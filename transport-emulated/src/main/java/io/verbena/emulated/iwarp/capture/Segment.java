// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.capture;

import io.verbena.emulated.roce.Ipv4Layout;
import io.verbena.emulated.roce.Ipv6Layout;
import io.verbena.emulated.roce.PcapWriter;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A TCP segment with its IP header, in a buffer that each segment reuses. */
final class Segment {
  /** The most bytes of payload: with any headers they fit into a packet of a capture file. */
  static final int MOST_PAYLOAD = 4096;

  private static final int FOLD = 0xffff;

  final ByteBuffer bytes = ByteBuffer.allocate(PcapWriter.LONGEST);
  private int tcp;
  private int length;

  /** Returns the length of the packet, from its IP header on. */
  int length() {
    return length;
  }

  /** Puts payload into the segment; {@link #end} completes the segment. */
  void payload(boolean overIpv6, ByteBuffer from, int at, int count) {
    int offset = (overIpv6 ? Ipv6Layout.LENGTH : Ipv4Layout.LENGTH) + TcpLayout.LENGTH;
    bytes.put(offset, from, at, count);
  }

  /** Writes the headers around the payload. */
  void end(
      InetSocketAddress from,
      InetSocketAddress to,
      int flags,
      int sequence,
      int acknowledgement,
      int payload) {
    if (isIpv6(from)) {
      writeIpv6(from.getAddress(), to.getAddress(), payload);
    } else {
      writeIpv4(from.getAddress(), to.getAddress(), payload);
    }
    bytes
        .putShort(tcp + TcpLayout.SOURCE_PORT_OFFSET, (short) from.getPort())
        .putShort(tcp + TcpLayout.DESTINATION_PORT_OFFSET, (short) to.getPort())
        .putInt(tcp + TcpLayout.SEQUENCE_OFFSET, sequence)
        .putInt(tcp + TcpLayout.ACKNOWLEDGEMENT_OFFSET, acknowledgement)
        .putShort(tcp + TcpLayout.LENGTH_AND_FLAGS_OFFSET, (short) (TcpLayout.LENGTH_BITS | flags))
        .putShort(tcp + TcpLayout.WINDOW_OFFSET, (short) TcpLayout.MAX_WINDOW)
        .putShort(tcp + TcpLayout.CHECKSUM_OFFSET, (short) 0)
        .putShort(tcp + TcpLayout.URGENT_OFFSET, (short) 0);
    bytes.putShort(
        tcp + TcpLayout.CHECKSUM_OFFSET, (short) checksum(from.getAddress(), to.getAddress()));
  }

  static boolean isIpv6(InetSocketAddress address) {
    return address.getAddress() instanceof Inet6Address;
  }

  private void writeIpv4(InetAddress from, InetAddress to, int payload) {
    tcp = Ipv4Layout.LENGTH;
    length = tcp + TcpLayout.LENGTH + payload;
    bytes
        .putLong(0, 0)
        .putInt(Long.BYTES, 0)
        .put(Ipv4Layout.VERSION_AND_LENGTH_OFFSET, (byte) Ipv4Layout.VERSION_AND_LENGTH)
        .putShort(Ipv4Layout.TOTAL_LENGTH_OFFSET, (short) length)
        .putShort(Ipv4Layout.FLAGS_AND_FRAGMENT_OFFSET, (short) Ipv4Layout.DO_NOT_FRAGMENT)
        .put(Ipv4Layout.TIME_TO_LIVE_OFFSET, (byte) Ipv4Layout.DEFAULT_TIME_TO_LIVE)
        .put(Ipv4Layout.PROTOCOL_OFFSET, (byte) TcpLayout.PROTOCOL)
        .put(Ipv4Layout.SOURCE_OFFSET, from.getAddress())
        .put(Ipv4Layout.DESTINATION_OFFSET, to.getAddress());
    bytes.putShort(Ipv4Layout.CHECKSUM_OFFSET, (short) Ipv4Layout.checksum(bytes));
  }

  private void writeIpv6(InetAddress from, InetAddress to, int payload) {
    tcp = Ipv6Layout.LENGTH;
    length = tcp + TcpLayout.LENGTH + payload;
    bytes
        .putInt(Ipv6Layout.VERSION_OFFSET, Ipv6Layout.VERSION)
        .putShort(Ipv6Layout.PAYLOAD_LENGTH_OFFSET, (short) (TcpLayout.LENGTH + payload))
        .put(Ipv6Layout.NEXT_HEADER_OFFSET, (byte) TcpLayout.PROTOCOL)
        .put(Ipv6Layout.HOP_LIMIT_OFFSET, (byte) Ipv6Layout.DEFAULT_HOP_LIMIT)
        .put(Ipv6Layout.SOURCE_OFFSET, from.getAddress())
        .put(Ipv6Layout.DESTINATION_OFFSET, to.getAddress());
  }

  /**
   * Returns the complement of the ones' complement sum of pseudo header, header and payload (RFC
   * 9293, section 3.1).
   */
  private int checksum(InetAddress from, InetAddress to) {
    long sum = TcpLayout.PROTOCOL + length - tcp + sum(from) + sum(to);
    int end = length & -2;
    for (int at = tcp; at < end; at += Short.BYTES) {
      sum += bytes.getShort(at) & FOLD;
    }
    if (end < length) {
      sum += (bytes.get(end) & 0xff) << Byte.SIZE;
    }
    while (sum > FOLD) {
      sum = (sum & FOLD) + (sum >>> Short.SIZE);
    }
    return (int) ~sum & FOLD;
  }

  private static long sum(InetAddress address) {
    ByteBuffer octets = ByteBuffer.wrap(address.getAddress());
    long sum = 0;
    while (octets.hasRemaining()) {
      sum += octets.getShort() & FOLD;
    }
    return sum;
  }
}
