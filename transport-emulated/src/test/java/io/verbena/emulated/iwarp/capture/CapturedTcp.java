// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A capture file as a TCP reader sees it. Reassembles each direction by sequence numbers, without
 * gaps; no segment may acknowledge bytes that were not sent.
 */
final class CapturedTcp {
  private static final int FILE_HEADER = 24;
  private static final int MAGIC = 0xa1b23c4d;
  private static final int RAW_IP = 101;
  private static final int LENGTH_OFFSET = 12;

  /** Keyed by sender and receiver, in the order of their first segments. */
  final Map<String, Direction> directions = new LinkedHashMap<>();

  /** One direction of a connection. */
  static final class Direction {
    final InetSocketAddress from;
    final InetSocketAddress to;
    final List<Integer> flags = new ArrayList<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int next;

    Direction(InetSocketAddress from, InetSocketAddress to) {
      this.from = from;
      this.to = to;
    }

    /** Returns all bytes sent in this direction. */
    ByteBuffer bytes() {
      return ByteBuffer.wrap(bytes.toByteArray());
    }

    boolean has(int flag) {
      return flags.stream().anyMatch(each -> (each & flag) != 0);
    }
  }

  CapturedTcp(Path file) throws IOException {
    ByteBuffer read = ByteBuffer.wrap(Files.readAllBytes(file));
    assertThat(read.getInt()).isEqualTo(MAGIC);
    assertThat(read.getInt(FILE_HEADER - Integer.BYTES)).isEqualTo(RAW_IP);
    read.position(FILE_HEADER);
    long before = 0;
    while (read.hasRemaining()) {
      long time = read.getInt() * 1_000_000_000L + read.getInt();
      assertThat(time).isGreaterThanOrEqualTo(before);
      before = time;
      int length = read.getInt();
      assertThat(read.getInt()).isEqualTo(length);
      take(read.slice(read.position(), length));
      read.position(read.position() + length);
    }
  }

  private void take(ByteBuffer packet) throws IOException {
    boolean six = packet.get(0) >> 4 == 6;
    int tcp = six ? 40 : 20;
    if (six) {
      assertThat(packet.getShort(4) & 0xffff).isEqualTo(packet.capacity() - tcp);
    } else {
      assertThat(packet.getShort(2) & 0xffff).isEqualTo(packet.capacity());
      assertThat(sum(packet, 0, tcp)).as("checksum of the IP header").isEqualTo(0xffff);
    }
    int addresses = six ? 16 : 4;
    int at = six ? 8 : LENGTH_OFFSET;
    InetSocketAddress from = address(packet, at, addresses, tcp);
    InetSocketAddress to = address(packet, at + addresses, addresses, tcp + 2);
    long pseudo = 6 + packet.capacity() - tcp + sum(packet, at, at + 2 * addresses);
    assertThat(fold(pseudo + sum(packet, tcp, packet.capacity())))
        .as("checksum of the segment")
        .isEqualTo(0xffff);

    Direction own = directions.computeIfAbsent(from + ">" + to, key -> new Direction(from, to));
    Direction other = directions.computeIfAbsent(to + ">" + from, key -> new Direction(to, from));
    int flags = packet.getShort(tcp + LENGTH_OFFSET) & 0x1ff;
    assertThat(packet.getInt(tcp + 4)).as("sequence number").isEqualTo(own.next);
    if ((flags & TcpLayout.ACK) != 0) {
      assertThat(packet.getInt(tcp + 8)).as("acknowledgement").isEqualTo(other.next);
    }
    byte[] payload = new byte[packet.capacity() - tcp - TcpLayout.LENGTH];
    packet.get(tcp + TcpLayout.LENGTH, payload);
    own.bytes.write(payload);
    own.flags.add(flags);
    own.next += payload.length + ((flags & (TcpLayout.SYN | TcpLayout.FIN)) == 0 ? 0 : 1);
  }

  private static InetSocketAddress address(ByteBuffer packet, int at, int length, int port)
      throws IOException {
    byte[] address = new byte[length];
    packet.get(at, address);
    return new InetSocketAddress(InetAddress.getByAddress(address), packet.getShort(port) & 0xffff);
  }

  private static long sum(ByteBuffer bytes, int from, int end) {
    long sum = 0;
    for (int at = from; at < end; at += 2) {
      sum += (bytes.get(at) & 0xff) << 8 | (at + 1 < end ? bytes.get(at + 1) & 0xff : 0);
    }
    return fold(sum);
  }

  private static long fold(long sum) {
    long folded = sum;
    while (folded > 0xffff) {
      folded = (folded & 0xffff) + (folded >>> 16);
    }
    return folded;
  }
}
