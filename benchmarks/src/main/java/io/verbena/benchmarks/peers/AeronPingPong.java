// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.SecondThread;
import io.verbena.benchmarks.work.Spin;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.UnsafeBuffer;

/** Aeron IPC round trips, both ends polling. */
public final class AeronPingPong implements PingPong {
  private static final int TERM_LENGTH = 4 << 20;

  // The driver's duty cycle moves the publication limit; half a term holds some 20,000 messages.
  private static final int INVOKE_EVERY = 4096;

  private final EmbeddedAeron aeron;
  private final ExclusivePublication there;
  private final ExclusivePublication back;
  private final Subscription atPong;
  private final Subscription atPing;
  private final Image pings;
  private final Image pongs;
  private final SecondThread second = new SecondThread();

  public AeronPingPong(AeronMode mode) throws TimeoutException {
    aeron = new EmbeddedAeron(mode);
    atPong = aeron.subscription(1);
    atPing = aeron.subscription(2);
    there = aeron.publication(1, TERM_LENGTH);
    back = aeron.publication(2, TERM_LENGTH);
    pings = aeron.connected(there, atPong);
    pongs = aeron.connected(back, atPing);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    second.together(
        spin -> {
          UnsafeBuffer out = new UnsafeBuffer(Slot.memory(ping.size(), 1));
          AgronaView sent = new AgronaView().wrap(out, 0);
          AgronaView received = new AgronaView();
          ping.prepare(sent);
          FragmentHandler handler =
              (buffer, offset, length, header) ->
                  ping.receive(received.wrap(buffer, offset), length);
          for (long i = 0; i < rounds; i++) {
            if (i % INVOKE_EVERY == 0) {
              aeron.invoke();
            }
            ping.send(sent);
            while (there.offer(out, 0, ping.size()) < 0) {
              aeron.invoke();
              spin.spin();
            }
            poll(pongs, handler, spin);
          }
        },
        spin -> {
          UnsafeBuffer out = new UnsafeBuffer(Slot.memory(pong.size(), 1));
          AgronaView sent = new AgronaView().wrap(out, 0);
          AgronaView received = new AgronaView();
          pong.prepare(sent);
          FragmentHandler handler =
              (buffer, offset, length, header) ->
                  pong.receive(received.wrap(buffer, offset), length);
          for (long i = 0; i < rounds; i++) {
            poll(pings, handler, spin);
            pong.send(sent);
            while (back.offer(out, 0, pong.size()) < 0) {
              spin.spin();
            }
          }
        },
        deadline);
  }

  private static void poll(Image image, FragmentHandler handler, Spin spin)
      throws TimeoutException {
    while (image.poll(handler, 1) == 0) {
      spin.spin();
    }
  }

  @Override
  public void close() {
    second.close();
    aeron.close();
  }
}
