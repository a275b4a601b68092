// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.memory.DirectMemory;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.wire.Fault;
import io.verbena.reactor.ReactorTransportFactory;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Runs a scenario: two transports, one connection between them, and its two ends. */
final class ReactiveSimulation {
  private static final URI ADDRESS = URI.create("emulated://simulated");
  private static final int SERVER = 0;
  private static final int CLIENT = 1;
  private static final long CONNECT_NANOS = Duration.ofSeconds(1).toNanos();

  /** Loading them takes longer than a run. */
  private static final VerbsProviders PROVIDERS = VerbsProviders.load();

  /** More than any run takes. */
  private static final long DIRECT_MEMORY = 1L << 30;

  /** A lossy wire may slow down the whole run by this much. */
  private static final long LIMIT_NANOS = Duration.ofMinutes(30).toNanos();

  private final ReactiveScenario scenario;
  private final Arena arena;
  private final SimulatedFabric fabric;
  private final Schedule schedule;
  private final RandomScheduler scheduler;
  private final PacketObserver observer;
  private final FailureOracle oracle;
  private @Nullable Throwable failure;

  ReactiveSimulation(
      ReactiveScenario scenario,
      Arena arena,
      @Nullable Trace trace,
      @Nullable List<Fault> injectedFaults) {
    this.scenario = scenario;
    this.arena = arena;
    fabric =
        new SimulatedFabric(
            scenario.seed(), scenario.faults(), scenario.flowControl(), arena.flights);
    schedule = new Schedule(scenario.scheduleSeed(), fabric.time());
    scheduler = new RandomScheduler(schedule, fabric);
    observer = new PacketObserver(this, trace);
    oracle = new FailureOracle(observer, scenario.settings());
    fabric.wire().tap(observer);
    if (injectedFaults != null) {
      fabric.wire().record(injectedFaults);
    }
  }

  /**
   * Runs the scenario and returns the violation, or whatever else was thrown, or null after a
   * success.
   */
  @Nullable Throwable run() {
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    // Completion loops report exceptions to this handler.
    thread.setUncaughtExceptionHandler((same, error) -> failed(error));
    try {
      execute();
    } catch (RuntimeException | AssertionError e) {
      failed(e);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    return failure;
  }

  private void execute() {
    arena.clear();
    int serverMemory = arena.allocate(RemoteMemoryModel.LENGTH);
    int clientMemory = arena.allocate(RemoteMemoryModel.LENGTH);
    arena.fillWithPattern();
    DirectMemory direct = new DirectMemory(DIRECT_MEMORY, () -> 0, arena.buffers::allocate);
    RdmaTransport serverSide = transport(SERVER, direct);
    RdmaTransport clientSide = transport(CLIENT, direct);
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
    await("connecting", () -> !accepted.isEmpty() && !connected.isEmpty(), CONNECT_NANOS);
    ConnectionEnd serverEnd =
        new ConnectionEnd(this, 0, SERVER, oracle, accepted.get(0), arena, serverMemory);
    ConnectionEnd clientEnd =
        new ConnectionEnd(this, 0, CLIENT, oracle, connected.get(0), arena, clientMemory);
    serverEnd.connectTo(clientEnd, arena);
    clientEnd.connectTo(serverEnd, arena);
    scheduler.add(serverEnd, SERVER);
    scheduler.add(clientEnd, CLIENT);

    await(
        "the last step",
        () -> serverEnd.hasFinishedSteps() && clientEnd.hasFinishedSteps(),
        LIMIT_NANOS);
    if (scenario.settings().patient()) {
      await(
          "the last message",
          () -> serverEnd.isIdle() && clientEnd.isIdle(),
          LIMIT_NANOS,
          serverEnd,
          clientEnd);
    }
    serverEnd.close();
    clientEnd.close();
    await(
        "the close",
        () -> serverEnd.isClosed() && clientEnd.isClosed(),
        LIMIT_NANOS,
        serverEnd,
        clientEnd);

    oracle.requireReason();
    serverEnd.checkAtEnd();
    clientEnd.checkAtEnd();
    // Disposing a transport waits for its loops and fails if one of them is stalled for too long.
    scheduler.resumeAll();
    clientSide.dispose();
    server.dispose();
    serverSide.dispose();
    serverEnd.checkReleased();
    clientEnd.checkReleased();
    checkNothingIsLeft();
  }

  private RdmaTransport transport(int host, DirectMemory direct) {
    return ReactorTransportFactory.conducted(
        scenario.settings().options(),
        scheduler.invoker(host),
        PROVIDERS,
        any -> fabric.open(),
        direct);
  }

  private void checkNothingIsLeft() {
    fabric.runToEnd();
    if (failure != null) {
      return;
    }
    int left = fabric.time().pending() + fabric.wire().inFlight() + arena.flights.inUse();
    Violation.require(left == 0, "timers, packets and frames left at the end:", left);
    int at = arena.mismatch();
    Violation.require(at < 0, "unexpected value of memory byte", at);
  }

  private void await(String what, BooleanSupplier done, long nanos, ConnectionEnd... of) {
    boolean reached = scheduler.awaitFor(() -> failure != null || done.getAsBoolean(), nanos);
    Throwable broken = failure;
    if (broken != null) {
      throw new Violation("failed while waiting for " + what, broken);
    }
    if (!reached) {
      StringBuilder state = new StringBuilder();
      for (ConnectionEnd side : of) {
        state.append("; ").append(side.describe());
      }
      throw new Violation(what + " was not reached" + state);
    }
  }

  /** Runs a check and records its failure. The caller may be code that swallows exceptions. */
  void verify(Runnable check) {
    try {
      check.run();
    } catch (RuntimeException | AssertionError e) {
      failed(e);
      throw e;
    }
  }

  void failed(Throwable error) {
    failure = failure == null ? error : failure;
  }

  // ---- accessors for the parts of the simulation

  ReactiveScenario scenario() {
    return scenario;
  }

  PacketObserver observer() {
    return observer;
  }

  Schedule schedule() {
    return schedule;
  }

  long now() {
    return scheduler.now();
  }

  void trace(String what, ConnectionEnd who, Object about) {
    observer.event(now(), what, who, about);
  }

  /** Stalls a random agent for as many milliseconds as the step says. */
  void stall(Step step) {
    oracle.disrupt();
    scheduler.stall(step.seed(), TimeUnit.MILLISECONDS.toNanos(step.count()));
  }
}
