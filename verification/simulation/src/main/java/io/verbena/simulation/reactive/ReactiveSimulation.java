package io.verbena.simulation.reactive;

import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.wire.Fault;
import io.verbena.reactor.ReactorTransportFactory;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One run of a script: two transports, a connection, two ends that do what it says. */
final class ReactiveSimulation {
  private static final URI ADDRESS = URI.create("emulated://simulated");
  private static final long CONNECT_NANOS = Duration.ofSeconds(1).toNanos();

  /** On a wire that loses much, all may take long; no single thing does. */
  private static final long LIMIT_NANOS = Duration.ofMinutes(30).toNanos();

  private final ReactiveScenario script;
  private final Arena arena;
  private final SimulatedFabric fabric;
  private final RandomScheduler turns;
  private final PacketObserver watch;
  private final FailureOracle blame;
  private final SplittableRandom random;
  private @Nullable Throwable failure;

  ReactiveSimulation(
      ReactiveScenario script,
      Arena arena,
      @Nullable Trace trace,
      @Nullable List<Fault> strikesInto) {
    this.script = script;
    this.arena = arena;
    random = new SplittableRandom(script.seed() + 1);
    fabric = new SimulatedFabric(script.seed(), script.faults(), script.flow(), arena.flights);
    turns = new RandomScheduler(random.split(), fabric);
    watch = new PacketObserver(this, trace);
    blame = new FailureOracle(watch, script.options());
    fabric.wire().tap(watch);
    if (strikesInto != null) {
      fabric.wire().record(strikesInto);
    }
  }

  /** Runs it; answers the promise that was broken, or what was thrown, or null. */
  @Nullable Throwable run() {
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    // Loops report there what is thrown in them.
    thread.setUncaughtExceptionHandler((same, error) -> failed(error));
    try {
      play();
    } catch (RuntimeException | AssertionError e) {
      failed(e);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    return failure;
  }

  private void play() {
    arena.clear();
    int first = arena.take(RemoteMemoryModel.LENGTH);
    int second = arena.take(RemoteMemoryModel.LENGTH);
    arena.fill();
    RdmaOptions options = script.options();
    RdmaTransport serverSide =
        ReactorTransportFactory.conducted(options, turns, any -> fabric.open());
    RdmaTransport clientSide =
        ReactorTransportFactory.conducted(options, turns, any -> fabric.open());
    List<RdmaConnection> accepted = new ArrayList<>();
    List<RdmaConnection> connected = new ArrayList<>();
    RdmaServer server =
        serverSide
            .bind(
                ADDRESS,
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block();
    clientSide.connect(ADDRESS).subscribe(connected::add, this::failed);
    await("both ends", () -> !accepted.isEmpty() && !connected.isEmpty(), CONNECT_NANOS);
    ConnectionEnd one = new ConnectionEnd(this, 0, accepted.get(0), arena, first);
    ConnectionEnd two = new ConnectionEnd(this, 1, connected.get(0), arena, second);
    one.meet(two, arena);
    two.meet(one, arena);
    turns.add(one);
    turns.add(two);

    boolean patient = random.nextInt(3) > 0;
    await("the scripts", () -> one.isDone() && two.isDone(), LIMIT_NANOS);
    if (patient) {
      await("all messages", () -> one.isQuiet() && two.isQuiet(), LIMIT_NANOS, one, two);
    }
    one.close();
    two.close();
    await("the close", () -> one.isClosed() && two.isClosed(), LIMIT_NANOS, one, two);

    blame.requireExplained();
    one.checkAtEnd();
    two.checkAtEnd();
    // Disposing waits for loops, and rightly complains of one that is held up for too long.
    turns.holdNone();
    clientSide.dispose();
    server.dispose();
    serverSide.dispose();
    one.checkReleased();
    two.checkReleased();
    checkNothingIsLeft();
  }

  private void checkNothingIsLeft() {
    fabric.runToEnd();
    if (failure != null) {
      return;
    }
    int left = fabric.time().pending() + fabric.wire().inFlight() + arena.flights.inUse();
    Violation.require(left == 0, "alarms, packets and frames that are left:", left);
    int at = arena.mismatch();
    Violation.require(at < 0, "not what was there and not what was written is byte", at);
  }

  private void await(String what, BooleanSupplier done, long nanos, ConnectionEnd... of) {
    boolean cameToPass = turns.awaitFor(() -> failure != null || done.getAsBoolean(), nanos);
    Throwable broken = failure;
    if (broken != null) {
      throw new Violation("failed while waiting for " + what, broken);
    }
    if (!cameToPass) {
      StringBuilder state = new StringBuilder();
      for (ConnectionEnd side : of) {
        state.append("; ").append(side.describe());
      }
      throw new Violation(what + " did not come to pass" + state);
    }
  }

  /** Makes a claim where who calls might keep what is thrown for itself. */
  void claim(Runnable claim) {
    try {
      claim.run();
    } catch (RuntimeException | AssertionError e) {
      failed(e);
      throw e;
    }
  }

  void failed(Throwable error) {
    failure = failure == null ? error : failure;
  }

  // ---- what its parts need of each other

  ReactiveScenario script() {
    return script;
  }

  PacketObserver watch() {
    return watch;
  }

  FailureOracle blame() {
    return blame;
  }

  long now() {
    return turns.nanoTime();
  }

  void tell(String what, ConnectionEnd who, Object about) {
    watch.event(now(), what, who, about);
  }

  /** Somebody gets no turns for so long. */
  void hold(long nanos) {
    turns.hold(nanos);
  }
}
