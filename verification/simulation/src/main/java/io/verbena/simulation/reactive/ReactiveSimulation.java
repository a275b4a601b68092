// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.memory.DirectMemory;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.address.LimitOption;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.wire.Fault;
import io.verbena.reactor.ReactorTransportFactory;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Trace;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Runs a scenario: two transports, one connection between them, and its two ends. */
final class ReactiveSimulation {
  private static final URI ADDRESS = URI.create("emulated://simulated");
  private static final int SERVER = 0;
  private static final int CLIENT = 1;
  private static final int NONE = -1;
  private static final int MOST_HELD_UP_MILLIS = 50;
  private static final long CONNECT_NANOS = Duration.ofSeconds(1).toNanos();

  /** Loaded once, because loading takes longer than a run. */
  private static final VerbsProviders PROVIDERS = VerbsProviders.load();

  /** Small completion queues: allocating one of the usual depth takes longer than a run. */
  private static final DeviceAttributes LIMITS =
      DeviceLimits.of(Map.of(LimitOption.MAX_COMPLETIONS, "256"));

  /** The limit of direct memory in bytes: more than any run uses. */
  private static final long DIRECT_MEMORY = 1L << 30;

  /** A lossy wire may slow down the whole run by this much. */
  private static final long LIMIT_NANOS = Duration.ofMinutes(30).toNanos();

  private final ReactiveScenario scenario;
  private final Arena arena;
  private final SimulatedFabric fabric;
  private final Schedule schedule;
  private final RandomScheduler scheduler;
  private final PacketObserver observer;
  private final List<SimulatedConnection> connections = new ArrayList<>();
  private int deadHost = NONE;
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
    fabric.wire().tap(observer);
    if (injectedFaults != null) {
      fabric.wire().record(injectedFaults);
    }
  }

  /** Returns whether a message may rightly find no receive. */
  boolean promisesMoreThanItPosts() {
    return scenario.settings().promisesMoreThanItPosts(scenario.connections());
  }

  /**
   * Runs the scenario. Returns the violation or another throwable that ended the run, or null after
   * a success.
   */
  @Nullable Throwable run() {
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    // Completion loops report exceptions to this handler.
    thread.setUncaughtExceptionHandler((same, error) -> uncaught(error));
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
    int[] memory = new int[2 * scenario.connections()];
    for (int i = 0; i < memory.length; i++) {
      memory[i] = arena.allocate(RemoteMemoryModel.LENGTH);
    }
    arena.fillWithPattern();
    DirectMemory direct =
        new DirectMemory(
            DIRECT_MEMORY, () -> 0, (device, length) -> arena.buffers.allocate(length));
    RdmaTransport serverSide = transport(SERVER, direct);
    RdmaTransport clientSide = transport(CLIENT, direct);
    List<RdmaConnection> accepted = new ArrayList<>();
    RdmaServer server =
        serverSide
            .bind(
                ADDRESS,
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block();
    if (connectAll(clientSide, accepted, memory)) {
      runConnections();
    }
    // Disposing a transport waits for its loops and fails if one of them is stalled for too long.
    scheduler.resumeAll();
    clientSide.dispose();
    server.dispose();
    serverSide.dispose();
    for (SimulatedConnection connection : connections) {
      connection.ends().forEach(ConnectionEnd::checkReleased);
    }
    checkNothingIsLeft();
  }

  /** Establishes the connections. Returns false if there is too little memory for them. */
  private boolean connectAll(RdmaTransport from, List<RdmaConnection> accepted, int[] memory) {
    for (int i = 0; i < scenario.connections(); i++) {
      int number = i;
      List<RdmaConnection> connected = new ArrayList<>();
      List<Throwable> refused = new ArrayList<>();
      from.connect(ADDRESS).subscribe(connected::add, refused::add);
      await(
          "connecting",
          () -> !refused.isEmpty() || (accepted.size() > number && !connected.isEmpty()),
          CONNECT_NANOS);
      if (!refused.isEmpty()) {
        Throwable why = refused.get(0);
        if (scenario.settings().hasLowCeiling() && why instanceof RdmaException) {
          return false;
        }
        throw new Violation("connecting failed", why);
      }
      try {
        begin(number, accepted.get(number), connected.get(0), memory);
      } catch (MemoryLimitException e) {
        Violation.require(scenario.settings().hasLowCeiling(), "no memory for regions:", e);
        return false;
      }
    }
    for (SimulatedConnection connection : connections) {
      scheduler.add(connection.server(), SERVER);
      scheduler.add(connection.client(), CLIENT);
    }
    return true;
  }

  private void begin(int number, RdmaConnection accepted, RdmaConnection connected, int[] memory) {
    FailureOracle oracle = new FailureOracle(observer, scenario.settings());
    ConnectionEnd server =
        new ConnectionEnd(this, number, SERVER, oracle, accepted, arena, memory[2 * number]);
    ConnectionEnd client =
        new ConnectionEnd(this, number, CLIENT, oracle, connected, arena, memory[2 * number + 1]);
    server.connectTo(client, arena);
    client.connectTo(server, arena);
    connections.add(new SimulatedConnection(oracle, server, client));
  }

  private void runConnections() {
    List<ConnectionEnd> ends = new ArrayList<>();
    connections.forEach(connection -> ends.addAll(connection.ends()));
    await("the last step", () -> all(ends, this::hasFinishedSteps), LIMIT_NANOS, ends);
    if (deadHost != NONE) {
      outlive(ends);
    } else if (scenario.settings().patient()) {
      await("the last message", () -> all(ends, ConnectionEnd::isIdle), LIMIT_NANOS, ends);
    }
    ends.forEach(ConnectionEnd::close);
    await("the close", () -> all(ends, ConnectionEnd::isClosed), LIMIT_NANOS, ends);

    connections.forEach(connection -> connection.oracle().requireReason());
    ends.forEach(ConnectionEnd::checkAtEnd);
  }

  /** Returns whether all ends match. Uses no stream, as it runs after each turn of an agent. */
  private static boolean all(List<ConnectionEnd> ends, Predicate<ConnectionEnd> condition) {
    for (int i = 0; i < ends.size(); i++) {
      if (!condition.test(ends.get(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean hasFinishedSteps(ConnectionEnd end) {
    return end.host() == deadHost || end.hasFinishedSteps();
  }

  /**
   * Checks that the surviving host notices the death of the other one in time, and that nothing on
   * it waits for the dead host.
   */
  private void outlive(List<ConnectionEnd> ends) {
    scheduler.endStall();
    List<ConnectionEnd> survivors = ends.stream().filter(end -> end.host() != deadHost).toList();
    long keepAlive = TimeUnit.MILLISECONDS.toNanos(scenario.settings().keepAliveMillis());
    long notice = keepAlive + keepAlive / 4 + PacketObserver.RETRIES_NANOS;
    boolean isFound = keepAlive > 0;
    if (!isFound) {
      survivors.forEach(ConnectionEnd::close);
    }
    if (survivors.stream().anyMatch(ConnectionEnd::isClosingHere)) {
      notice = Math.max(notice, Settings.CLOSE_TIMEOUT.toNanos());
    }
    await(
        "the end of the connections to a dead peer",
        () -> all(survivors, ConnectionEnd::isOverForAll),
        notice + Settings.CLOSE_TIMEOUT.toNanos() / 4,
        survivors);
    survivors.forEach(ConnectionEnd::requireHeapBuffersReleased);
    for (SimulatedConnection connection : connections) {
      if (isFound && connection.oracle().isDisruptedOnce()) {
        connection.end(1 - deadHost).requireUnreachable();
      }
    }
    scheduler.resumeAll();
    for (ConnectionEnd end : ends) {
      if (end.host() == deadHost) {
        end.dropSteps();
        end.dispose();
      }
    }
  }

  private RdmaTransport transport(int host, DirectMemory direct) {
    return ReactorTransportFactory.conducted(
        scenario.settings().options(),
        scheduler.invoker(host),
        PROVIDERS,
        any -> fabric.open(LIMITS),
        direct);
  }

  private void checkNothingIsLeft() {
    fabric.runToEnd();
    if (failure != null) {
      return;
    }
    List<Integer> left =
        List.of(fabric.time().pending(), fabric.wire().inFlight(), arena.flights.inUse());
    Violation.require(
        left.equals(List.of(0, 0, 0)), "timers, packets and frames left at the end:", left);
    int at = arena.mismatch();
    Violation.require(at < 0, "unexpected value of memory byte", at);
  }

  private void await(String what, BooleanSupplier done, long nanos) {
    await(what, done, nanos, List.of());
  }

  private void await(String what, BooleanSupplier done, long nanos, List<ConnectionEnd> of) {
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

  /** Handles an exception that a completion loop reports, for example one of a subscriber. */
  private void uncaught(Throwable error) {
    if (!Mischief.isCauseOf(error)) {
      failed(error);
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

  /** Stops a host for good, without a disconnect; packets that it has sent still arrive. */
  void die(int host) {
    if (deadHost == NONE) {
      deadHost = host;
      connections.forEach(connection -> connection.oracle().disrupt());
      fabric
          .wire()
          .add(
              new Fault(
                  Fault.Kind.STOP,
                  host,
                  Fault.ANY,
                  now(),
                  Long.MAX_VALUE,
                  Fault.ANY,
                  Fault.ALWAYS,
                  0,
                  0));
      scheduler.kill(host);
    }
  }

  /** Called within a subscriber: holds up its host for less time than any timeout. */
  void holdUp(int host, Step step) {
    long millis = 1L + Choice.HELD_UP.below(MOST_HELD_UP_MILLIS, step.seed(), 0);
    scheduler.holdUp(host, TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Stalls a random agent for {@link Step#count} milliseconds. */
  void stall(Step step) {
    connections.forEach(connection -> connection.oracle().disrupt());
    scheduler.stall(step.seed(), TimeUnit.MILLISECONDS.toNanos(step.count()));
  }
}
