// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Spin;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;

/** Plain UDP sockets of this machine, for both ends. */
final class UdpSocket {
  private static final int BUFFER_BYTES = 4 << 20;

  private UdpSocket() {}

  static InetSocketAddress at(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** Opens a non-blocking socket with the buffer sizes of the emulated HCA. */
  static DatagramChannel open() throws IOException {
    DatagramChannel channel = DatagramChannel.open();
    channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
    channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
    channel.bind(at(0)).configureBlocking(false);
    return channel;
  }

  /** Waits for the first packet and returns its sender. */
  static InetSocketAddress receive(DatagramChannel channel, ByteBuffer into, Duration limit)
      throws Exception {
    Spin spin = Deadline.in(limit).spin();
    into.clear();
    InetSocketAddress from = (InetSocketAddress) channel.receive(into);
    while (from == null) {
      spin.spin();
      from = (InetSocketAddress) channel.receive(into);
    }
    return from;
  }
}
