package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.reactor.ReactorTransportFactory;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One run: two transports, a connection, two ends that do what the seed says. */
final class Run {
  private static final long CONNECT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long LIMIT_NANOS = Duration.ofSeconds(60).toNanos();

  private final SplittableRandom random;
  private final SimulatedFabric fabric;
  private final TurnByTurn turns;
  private final RdmaOptions options;
  private final boolean mayDisturb;
  private boolean disturbed;
  private boolean ending;
  private @Nullable Throwable failure;

  private Run(long seed) {
    random = new SplittableRandom(seed);
    mayDisturb = random.nextInt(3) == 0;
    fabric = new SimulatedFabric(seed, FaultSchedule.none(random.nextInt(20_000)));
    turns = new TurnByTurn(random.split(), fabric);
    options =
        RdmaOptions.defaults()
            .loops(1)
            .eagerSize(64 + random.nextInt(960))
            .receiveDepth(4 + random.nextInt(12))
            .sendDepth(4 + random.nextInt(12))
            .window(1 + random.nextInt(20))
            .maxMessageSize(1 << 16)
            .readAhead(random.nextInt(1 << 14))
            .maxOperations(1 + random.nextInt(64))
            .maxRegisteredBytes(1 << 23)
            .connectTimeout(Duration.ofSeconds(30))
            .operationTimeout(Duration.ofSeconds(4))
            .closeTimeout(Duration.ofSeconds(2));
  }

  /**
   * Does the run of a seed.
   *
   * @return how many turns it took
   */
  static long of(long seed) {
    Run run = new Run(seed);
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((same, error) -> run.failed(error));
    try {
      return run.run();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
  }

  /** Makes a claim where who calls might keep what is thrown for itself. */
  void claim(Runnable claim) {
    try {
      claim.run();
    } catch (Throwable e) {
      failed(e);
      throw e;
    }
  }

  private void failed(Throwable error) {
    failure = failure == null ? error : failure;
  }

  private long run() {
    RdmaTransport serverSide =
        ReactorTransportFactory.conducted(options, turns, any -> fabric.open());
    RdmaTransport clientSide =
        ReactorTransportFactory.conducted(options, turns, any -> fabric.open());
    List<RdmaConnection> ends = new ArrayList<>();
    URI address = URI.create("emulated://simulated");
    RdmaServer server =
        serverSide
            .bind(
                address,
                connection -> {
                  ends.add(connection);
                  return Mono.never();
                })
            .block();
    clientSide.connect(address).subscribe(ends::add, failure -> fail("connect", failure));
    await("both ends", () -> ends.size() == 2, CONNECT_NANOS);
    Side one = new Side(this, random.split(), ends.get(0), options);
    Side two = new Side(this, random.split(), ends.get(1), options);
    one.meet(two);
    two.meet(one);
    turns.add(one);
    turns.add(two);

    boolean patient = random.nextInt(3) > 0;
    await("the scripts", () -> one.isDone() && two.isDone(), LIMIT_NANOS);
    if (patient) {
      await("all messages", () -> one.isQuiet() && two.isQuiet(), LIMIT_NANOS, one, two);
    }
    ending = true;
    one.close();
    two.close();
    await("the close", () -> one.isClosed() && two.isClosed(), LIMIT_NANOS, one, two);

    one.checkAtEnd(disturbed);
    two.checkAtEnd(disturbed);
    assertThat(clientSide.memory(address).registeredBytes())
        .isLessThanOrEqualTo(options.maxRegisteredBytes());
    clientSide.dispose();
    server.dispose();
    serverSide.dispose();
    one.checkReleased();
    two.checkReleased();
    return turns.turns();
  }

  private void await(String what, BooleanSupplier done, long nanos, Side... of) {
    boolean cameToPass = turns.awaitFor(() -> failure != null || done.getAsBoolean(), nanos);
    if (failure != null) {
      throw new AssertionError(failure.getMessage(), failure);
    }
    if (!cameToPass) {
      StringBuilder state = new StringBuilder();
      for (Side side : of) {
        state.append("; ").append(side.describe());
      }
      throw new AssertionError(what + " did not come to pass" + state);
    }
  }

  private static void fail(String what, Throwable failure) {
    throw new AssertionError(what, failure);
  }

  boolean isDisturbed() {
    return disturbed;
  }

  boolean isEnding() {
    return ending;
  }

  /** Rarely, and in some runs only: an end stops, or somebody gets no turns for long. */
  void maybeDisturb(Side side) {
    if (mayDisturb && random.nextInt(10) == 0) {
      disturbed = true;
      if (random.nextBoolean()) {
        side.dispose();
      } else {
        turns.hold(random.nextLong(2 * options.operationTimeout().toNanos()));
      }
    }
  }
}
