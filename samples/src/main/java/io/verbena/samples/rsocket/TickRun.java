// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's subscriptions to ticks, a fast one and a slow one, and their checks. */
final class TickRun {
  /** The most ticks that a client has requested and not received. */
  static final int RATE = 64;

  private static final Duration REST = Duration.ofMillis(1);

  private final RSocket client;
  private final @Nullable Ticks served;
  private final Job job;

  private TickRun(RSocket client, @Nullable Ticks served, Job job) {
    this.client = client;
    this.served = served;
    this.job = job;
  }

  /**
   * @param fast ticks per second to the subscriber without rests
   * @param slow ticks per second to the subscriber with rests
   * @param lead the most ticks that the sender was ahead of the slow one, or null if the sender is
   *     in another process
   */
  record Result(double fast, double slow, @Nullable Long lead) {

    /** Its rows of the table. */
    List<Figure> figures() {
      List<Figure> figures = new ArrayList<>();
      figures.add(new Figure("ticks/s to one that does not rest", fast));
      figures.add(new Figure("ticks/s to one that rests", slow));
      if (lead != null) {
        figures.add(
            new Figure("    most ticks that the sender was ahead of it (" + RATE + ")", lead));
      }
      return figures;
    }
  }

  /**
   * Runs the client.
   *
   * @param served the server's ticks, or null if the server is in another process
   * @param fast ticks to the fast subscriber, which runs twice, the first time to warm up
   * @param slow ticks to the slow subscriber
   * @param job advances by one for each tick
   */
  static Result run(Transport transport, @Nullable Ticks served, int fast, int slow, Job job) {
    RSocket client =
        requireNonNull(RSocketConnector.create().connect(transport.client()).block(job.limit()));
    try {
      TickRun run = new TickRun(client, served, job);
      run.watch("fast", fast, Duration.ZERO);
      Watched second = run.watch("fast", fast, Duration.ZERO);
      Watched slowly = run.watch("slow", slow, REST);
      if (served == null) {
        return new Result(second.perSecond(), slowly.perSecond(), null);
      }
      run.checkLead(slowly.lead());
      return new Result(second.perSecond(), slowly.perSecond(), slowly.lead());
    } finally {
      client.dispose();
      client.onClose().onErrorComplete().block(job.limit());
    }
  }

  private void checkLead(long lead) {
    job.checks()
        .check(
            "ticks ahead of the slow one, "
                + job.transport()
                + ": "
                + lead
                + " (expected: <= "
                + RATE
                + ")",
            lead <= RATE);
  }

  private record Watched(double perSecond, long lead) {}

  private Watched watch(String who, int count, Duration rest) {
    Ticks ticks = served;
    TickSubscriber subscriber =
        new TickSubscriber(
            rest, ticks == null ? () -> 0 : ticks::made, () -> job.step().advance(1));
    long began = System.nanoTime();
    client.requestStream(Ticks.payload(count)).limitRate(RATE).subscribe(subscriber);
    subscriber.finished().block(job.limit());
    long ended = System.nanoTime();
    String whose = ", " + who + ", " + job.transport();
    job.checks().checkEqual("ticks" + whose, (long) count, subscriber.taken());
    job.checks().checkEqual("ticks out of order" + whose, 0L, subscriber.wrong());
    return new Watched(1e9 * count / (ended - began), subscriber.lead());
  }
}
