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
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/** Round trips over plain TCP sockets between two processes, both ends polling. */
public final class TcpPingPong implements PingPong {
  private final OtherProcess other;
  private final SocketChannel channel;

  public TcpPingPong(int size) throws IOException {
    other = new OtherProcess(Echo.class, size);
    channel = SocketChannel.open(at(Integer.parseInt(other.line())));
    prepare(channel, /* busy= */ true);
  }

  static InetSocketAddress at(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  static void prepare(SocketChannel channel, boolean busy) throws IOException {
    channel.configureBlocking(!busy);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  static void send(SocketChannel channel, ByteBuffer out, Spin spin) throws Exception {
    out.clear();
    while (channel.write(out) >= 0 && out.hasRemaining()) {
      spin.spin();
    }
  }

  static void receive(SocketChannel channel, ByteBuffer in, Spin spin) throws Exception {
    in.clear();
    while (in.hasRemaining()) {
      int came = channel.read(in);
      if (came < 0) {
        throw new EOFException("the other end has closed");
      }
      if (came == 0) {
        spin.spin();
      }
    }
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
      send(channel, out, spin);
      receive(channel, in, spin);
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
      try (ServerSocketChannel server = ServerSocketChannel.open().bind(at(0))) {
        System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
        try (SocketChannel channel = server.accept()) {
          prepare(channel, /* busy= */ true);
          Spin spin = Deadline.in(LONGEST).spin();
          while (true) {
            receive(channel, in, spin);
            pong.receive(received, in.position());
            pong.send(sent);
            send(channel, out, spin);
          }
        }
      }
    }
  }
}
