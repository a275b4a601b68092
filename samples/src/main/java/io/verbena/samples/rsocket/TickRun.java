package io.verbena.samples.rsocket;

import static java.util.Objects.requireNonNull;

import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.time.Duration;

/** A client's subscriptions to ticks, a fast one and a slow one, and what they must get. */
final class TickRun {
  /** Ticks that a client has asked for and not got, at most. */
  static final int RATE = 64;

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration REST = Duration.ofMillis(1);

  private final Transport transport;
  private final RSocket client;
  private final Ticks ticks;
  private final Checks checks;
  private final Progress.Step step;

  private TickRun(
      Transport transport, RSocket client, Ticks ticks, Checks checks, Progress.Step step) {
    this.transport = transport;
    this.client = client;
    this.ticks = ticks;
    this.checks = checks;
    this.step = step;
  }

  /**
   * @param fast ticks per second to the one that does not rest
   * @param slow ticks per second to the one that rests
   * @param lead the most ticks that the sender was ahead of the slow one
   */
  record Result(double fast, double slow, long lead) {}

  /**
   * Runs it.
   *
   * @param ticks what the server serves
   * @param fast ticks to the fast one, which is run twice, the first time to warm up
   * @param slow ticks to the slow one
   * @param step advances by one for each tick
   */
  static Result run(
      Transport transport, Ticks ticks, int fast, int slow, Checks checks, Progress.Step step) {
    RSocket client =
        requireNonNull(RSocketConnector.create().connect(transport.client()).block(LIMIT));
    try {
      TickRun run = new TickRun(transport, client, ticks, checks, step);
      run.watch("fast", fast, Duration.ZERO);
      Watched second = run.watch("fast", fast, Duration.ZERO);
      Watched slowly = run.watch("slow", slow, REST);
      long lead = slowly.lead();
      checks.check(
          "ticks ahead of the slow one, "
              + transport.name()
              + ": "
              + lead
              + " (expected: <= "
              + RATE
              + ")",
          lead <= RATE);
      return new Result(second.perSecond(), slowly.perSecond(), lead);
    } finally {
      client.dispose();
      client.onClose().onErrorComplete().block(LIMIT);
    }
  }

  private record Watched(double perSecond, long lead) {}

  private Watched watch(String who, int count, Duration rest) {
    Watcher watcher = new Watcher(rest, ticks::made, () -> step.advance(1));
    long began = System.nanoTime();
    client.requestStream(Ticks.payload(count)).limitRate(RATE).subscribe(watcher);
    watcher.finished().block(LIMIT);
    long ended = System.nanoTime();
    String whose = ", " + who + ", " + transport.name();
    checks.checkEqual("ticks" + whose, (long) count, watcher.taken());
    checks.checkEqual("ticks out of order" + whose, 0L, watcher.wrong());
    return new Watched(1e9 * count / (ended - began), watcher.lead());
  }
}
