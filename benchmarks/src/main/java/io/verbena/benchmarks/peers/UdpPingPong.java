// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.Spin;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;

/** Round trips over plain UDP sockets between two processes, both ends polling. */
public final class UdpPingPong implements PingPong {
  private final OtherProcess other;
  private final DatagramChannel channel;

  public UdpPingPong(int size) throws IOException {
    other = new OtherProcess(Echo.class, size);
    channel = UdpSocket.open();
    channel.connect(UdpSocket.at(Integer.parseInt(other.line())));
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    ByteBuffer out = DirectMemory.allocate(ping.size());
    ByteBuffer in = DirectMemory.allocate(ping.size());
    ByteBufferView sent = new ByteBufferView(out, 0);
    ByteBufferView received = new ByteBufferView(in, 0);
    ping.prepare(sent);
    Spin spin = deadline.spin();
    for (long i = 0; i < rounds; i++) {
      ping.send(sent);
      channel.write(out.clear());
      in.clear();
      while (channel.read(in) == 0) {
        spin.spin();
      }
      ping.receive(received, in.position());
    }
  }

  @Override
  public void close() {
    try (channel) {
      other.close();
    } catch (IOException e) {
      throw new IllegalStateException("close socket", e);
    }
  }

  /** The end in the other process. */
  static final class Echo {
    private static final Duration LONGEST = Duration.ofHours(1);

    private Echo() {}

    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[0]);
      Pong pong = new Pong(size);
      ByteBuffer out = DirectMemory.allocate(size);
      ByteBuffer in = DirectMemory.allocate(size);
      ByteBufferView sent = new ByteBufferView(out, 0);
      ByteBufferView received = new ByteBufferView(in, 0);
      pong.prepare(sent);
      try (DatagramChannel channel = UdpSocket.open()) {
        System.out.println(((InetSocketAddress) channel.getLocalAddress()).getPort());
        channel.connect(UdpSocket.receive(channel, in, LONGEST));
        Spin spin = Deadline.in(LONGEST).spin();
        while (true) {
          pong.receive(received, in.position());
          pong.send(sent);
          channel.write(out.clear());
          in.clear();
          while (channel.read(in) == 0) {
            spin.spin();
          }
        }
      }
    }
  }
}
