// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Spin;
import io.verbena.benchmarks.work.Tally;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * Plain TCP sockets one way between two processes, with as many buffers at each end as the RDMA
 * workload has outstanding WRITEs. Both ends poll, or block in the kernel.
 */
public final class TcpOneWay implements OneWay {
  private static final int PLACES = 16;

  /** The limit of counts of the other end that are not read yet. */
  private static final long MOST_UNREAD = 256;

  private final OtherProcess other;
  private final SocketChannel channel;
  private final Places places;
  private final ByteBuffer told = DirectMemory.allocate(Tally.BYTES);
  private long sent;
  private long unread;

  /**
   * Connects.
   *
   * @param busy whether the ends never sleep
   */
  public TcpOneWay(int size, boolean busy) throws IOException {
    places = new Places(size);
    MessageSource source = new MessageSource(size);
    for (int i = 0; i < PLACES; i++) {
      source.prepare(places.view(i));
    }
    other = new OtherProcess(Sink.class, size, busy);
    channel = SocketChannel.open(TcpPingPong.at(Integer.parseInt(other.line())));
    TcpPingPong.prepare(channel, busy);
  }

  /** Buffers that are used in turns. */
  private static final class Places {
    private final ByteBuffer[] buffers = new ByteBuffer[PLACES];
    private final ByteBufferView[] views = new ByteBufferView[PLACES];

    Places(int size) {
      ByteBuffer all = DirectMemory.allocate(PLACES * size);
      for (int i = 0; i < PLACES; i++) {
        buffers[i] = all.slice(i * size, size);
        views[i] = new ByteBufferView(all, i * size);
      }
    }

    ByteBuffer buffer(long number) {
      return buffers[(int) (number % PLACES)];
    }

    ByteBufferView view(long number) {
      return views[(int) (number % PLACES)];
    }
  }

  /** {@inheritDoc} The other process uses a check of its own. */
  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    Spin spin = deadline.spin();
    long end = sent + Tally.rounded(messages);
    while (sent < end) {
      source.next(places.view(sent));
      TcpPingPong.send(channel, places.buffer(sent), spin);
      if (++sent % Tally.EVERY == 0) {
        unread++;
        readTo(MOST_UNREAD, spin);
      }
    }
    readTo(0, spin);
    long taken = told.getLong(0);
    if (taken != sent) {
      throw new IllegalStateException("taken: " + taken + " (expected: " + sent + ")");
    }
  }

  private void readTo(long most, Spin spin) throws Exception {
    while (unread > most) {
      TcpPingPong.receive(channel, told, spin);
      unread--;
    }
  }

  @Override
  public long otherCpuNanos() {
    return other.cpuNanos();
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
  static final class Sink {
    private static final Duration LONGEST = Duration.ofHours(1);

    private Sink() {}

    /** Arguments: the size of the messages, and whether it is busy. */
    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[0]);
      Places places = new Places(size);
      MessageCheck check = new MessageCheck(size);
      ByteBuffer told = DirectMemory.allocate(Tally.BYTES);
      try (ServerSocketChannel server = ServerSocketChannel.open().bind(TcpPingPong.at(0))) {
        System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
        try (SocketChannel channel = server.accept()) {
          TcpPingPong.prepare(channel, Boolean.parseBoolean(arguments[1]));
          Spin spin = Deadline.in(LONGEST).spin();
          for (long taken = 0; ; ) {
            TcpPingPong.receive(channel, places.buffer(taken), spin);
            check.accept(places.view(taken), size);
            if (++taken % Tally.EVERY == 0) {
              told.putLong(0, taken);
              TcpPingPong.send(channel, told, spin);
            }
          }
        }
      }
    }
  }
}
