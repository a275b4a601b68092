// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import io.verbena.benchmarks.work.Spin;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.UnsafeBuffer;

/** Aeron UDP round trips between two processes; each end's polling thread runs its driver. */
public final class AeronUdpPingPong implements PingPong {
  private static final int TERM_LENGTH = 4 << 20;
  private static final int PINGS = 1;
  private static final int PONGS = 2;

  private final OtherProcess other;
  private final End end;

  public AeronUdpPingPong(int size) throws Exception {
    EmbeddedAeron aeron = new EmbeddedAeron(AeronMode.INVOKER);
    Subscription pongs = aeron.udpSubscription(PONGS);
    other = new OtherProcess(Echo.class, size, aeron.port(pongs));
    int port = Integer.parseInt(other.line());
    end = new End(aeron, aeron.publication(PINGS, TERM_LENGTH, port), pongs);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    AgronaView received = new AgronaView();
    FragmentHandler handler =
        (buffer, offset, length, header) -> ping.receive(received.wrap(buffer, offset), length);
    UnsafeBuffer out = new UnsafeBuffer(Slot.memory(ping.size(), 1));
    AgronaView sent = new AgronaView().wrap(out, 0);
    ping.prepare(sent);
    Spin spin = deadline.spin();
    for (long i = 0; i < rounds; i++) {
      ping.send(sent);
      end.send(out, ping.size(), spin);
      end.receive(handler, spin);
    }
  }

  @Override
  public void close() {
    try (other) {
      end.aeron.close();
    }
  }

  /**
   * One end of both streams.
   *
   * @param aeron the client, whose driver this end invokes
   */
  private record End(EmbeddedAeron aeron, ExclusivePublication out, Subscription in) {
    void send(UnsafeBuffer message, int length, Spin spin) throws TimeoutException {
      while (out.offer(message, 0, length) < 0) {
        aeron.invoke();
        spin.spin();
      }
      aeron.invoke();
    }

    void receive(FragmentHandler handler, Spin spin) throws TimeoutException {
      while (in.poll(handler, 1) == 0) {
        aeron.invoke();
        spin.spin();
      }
    }
  }

  /** The end in the other process. */
  static final class Echo {
    private static final Duration LONGEST = Duration.ofHours(1);

    private Echo() {}

    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[0]);
      EmbeddedAeron aeron =
          new EmbeddedAeron(AeronMode.INVOKER, CommonContext.getAeronDirectoryName() + "-other");
      Subscription pings = aeron.udpSubscription(PINGS);
      ExclusivePublication pongs =
          aeron.publication(PONGS, TERM_LENGTH, Integer.parseInt(arguments[1]));
      System.out.println(aeron.port(pings));
      End end = new End(aeron, pongs, pings);
      Pong pong = new Pong(size);
      UnsafeBuffer out = new UnsafeBuffer(Slot.memory(size, 1));
      AgronaView sent = new AgronaView().wrap(out, 0);
      AgronaView received = new AgronaView();
      pong.prepare(sent);
      FragmentHandler handler =
          (buffer, offset, length, header) -> pong.receive(received.wrap(buffer, offset), length);
      Spin spin = Deadline.in(LONGEST).spin();
      while (true) {
        end.receive(handler, spin);
        pong.send(sent);
        end.send(out, size, spin);
      }
    }
  }
}
