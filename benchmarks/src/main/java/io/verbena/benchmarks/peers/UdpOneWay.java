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
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;

/**
 * Plain UDP sockets one way between two processes, with packets as long as those of RoCEv2 at an
 * MTU of 4096. Nothing is retransmitted, so no more packets are in flight than a socket's buffer
 * holds.
 */
public final class UdpOneWay implements OneWay {
  /** The length of the base transport header and the invariant CRC together. */
  private static final int HEADER = 16;

  private static final int MTU = 4096;

  /** The limit of packets in flight; a socket's buffer holds some 46 by default. */
  private static final int WINDOW = 32;

  private static final int TELL_EVERY = 8;

  private final OtherProcess other;
  private final DatagramChannel channel;
  private final ByteBuffer packet = DirectMemory.allocate(HEADER + MTU);
  private final ByteBuffer told = DirectMemory.allocate(Long.BYTES);
  private final ByteBuffer message;
  private final ByteBufferView view;
  private long sent;
  private long taken;

  public UdpOneWay(int size) throws IOException {
    if (size % (MTU * TELL_EVERY) != 0) {
      throw new IllegalArgumentException(
          "size: " + size + " (expected: a multiple of " + MTU * TELL_EVERY + ")");
    }
    message = DirectMemory.allocate(size);
    view = new ByteBufferView(message, 0);
    new MessageSource(size).prepare(view);
    other = new OtherProcess(Sink.class, size);
    channel = UdpSocket.open();
    channel.connect(UdpSocket.at(Integer.parseInt(other.line())));
    // Connecting drops packets that have arrived, so the other end reports when it is connected.
    channel.write(told.clear());
    other.line();
  }

  /** {@inheritDoc} The other process uses a check of its own. */
  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    Spin spin = deadline.spin();
    for (long i = 0; i < messages; i++) {
      source.next(view);
      for (int at = 0; at < source.size(); at += MTU) {
        while (sent - taken >= WINDOW) {
          look();
          spin.spin();
        }
        packet.clear().putLong(0, sent).put(HEADER, message, at, MTU);
        while (channel.write(packet) == 0) {
          spin.spin();
        }
        sent++;
      }
    }
    while (taken < sent) {
      look();
      spin.spin();
    }
  }

  private void look() throws IOException {
    if (channel.read(told.clear()) > 0) {
      taken = told.getLong(0);
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
  static final class Sink {
    private static final Duration LONGEST = Duration.ofHours(1);

    private Sink() {}

    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[0]);
      MessageCheck check = new MessageCheck(size);
      ByteBuffer message = DirectMemory.allocate(size);
      ByteBufferView view = new ByteBufferView(message, 0);
      ByteBuffer packet = DirectMemory.allocate(HEADER + MTU);
      ByteBuffer told = DirectMemory.allocate(Long.BYTES);
      try (DatagramChannel channel = UdpSocket.open()) {
        System.out.println(((InetSocketAddress) channel.getLocalAddress()).getPort());
        channel.connect(UdpSocket.receive(channel, told, LONGEST));
        System.out.println("connected");
        Spin spin = Deadline.in(LONGEST).spin();
        for (long taken = 0; ; ) {
          packet.clear();
          while (channel.read(packet) == 0) {
            spin.spin();
          }
          if (packet.position() != HEADER + MTU || packet.getLong(0) != taken) {
            throw new IllegalStateException(
                "packet: " + packet.getLong(0) + " (expected: " + taken + ")");
          }
          int at = (int) (taken * MTU % size);
          message.put(at, packet, HEADER, MTU);
          if (at + MTU == size) {
            check.accept(view, size);
          }
          if (++taken % TELL_EVERY == 0) {
            told.putLong(0, taken);
            channel.write(told.clear());
          }
        }
      }
    }
  }
}
