// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.CounterDigits;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.scenario.Trace;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A program over the verbs SPI, its topology and the faults on its wire.
 *
 * @param seed the seed of the scenario and of keys and queue pair numbers
 * @param medium the medium of the queue pairs
 * @param maxLength the largest message that fits into a receive
 * @param devices the number of emulated HCAs
 * @param sharedQueue whether the endpoints of a device share a completion queue
 * @param sharedReceives whether endpoints of the same type on a device share a receive queue
 * @param links the connections
 * @param operations the steps of the program, by time
 * @param faults the faults that the wire injects
 */
public record VerbsScenario(
    long seed,
    Medium medium,
    int maxLength,
    int devices,
    boolean sharedQueue,
    boolean sharedReceives,
    List<ConnectionConfig> links,
    List<Operation> operations,
    FaultSchedule faults)
    implements Scenario {

  static final int MAX_LENGTH = 1024;

  static final int REGISTERS = 3;
  static final int COUNTERS = 4;
  static final int MAX_SEGMENTS = 3;

  static final int MAX_DEVICES = 3;
  static final int MAX_LINKS = 4;
  static final int MAX_OPERATIONS = CounterDigits.COUNT;
  private static final int PSN_BITS = 24;
  private static final int DRAIN_INTERVAL = 24;
  private static final int EXTRA_TIMEOUT = 3;
  private static final Mtu[] MTUS = {Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_512};

  /** Weighted: frequent operations are listed several times. */
  private static final OperationKind[] KINDS = {
    OperationKind.SEND,
    OperationKind.SEND,
    OperationKind.SEND_IMMEDIATE,
    OperationKind.WRITE,
    OperationKind.WRITE,
    OperationKind.WRITE_IMMEDIATE,
    OperationKind.READ,
    OperationKind.READ,
    OperationKind.FETCH_ADD,
    OperationKind.FETCH_ADD,
    OperationKind.COMPARE_SWAP
  };

  /** Further operations of programs that grant keys. */
  private static final OperationKind[] KEY_KINDS = {
    OperationKind.GRANT_KEY,
    OperationKind.GRANT_KEY,
    OperationKind.LOCAL_INVALIDATE,
    OperationKind.DEALLOCATE,
    OperationKind.DEALLOCATE,
    OperationKind.SEND_WITH_INVALIDATE,
    OperationKind.SEND_WITH_INVALIDATE,
    OperationKind.REREGISTER,
    OperationKind.REREGISTER,
    OperationKind.REREGISTER,
    OperationKind.BIND_TYPE_1_WINDOW
  };

  private static final OperationKind[] CONNECTION_KINDS = {
    OperationKind.SEND,
    OperationKind.SEND,
    OperationKind.SEND_IMMEDIATE,
    OperationKind.SEND_IMMEDIATE,
    OperationKind.WRITE,
    OperationKind.WRITE,
    OperationKind.WRITE_IMMEDIATE,
    OperationKind.WRITE_IMMEDIATE,
    OperationKind.WRONG_KEY,
    OperationKind.TOO_LARGE
  };

  private static final OperationKind[] DATAGRAM_KINDS = {
    OperationKind.SEND,
    OperationKind.SEND,
    OperationKind.SEND_IMMEDIATE,
    OperationKind.WRONG_QUEUE_KEY,
    OperationKind.TOO_LARGE
  };

  private static final OperationKind[] KEY_FAILURES = {
    OperationKind.REVOKED_KEY,
    OperationKind.REVOKED_KEY,
    OperationKind.REVOKED_KEY,
    OperationKind.FOREIGN_WINDOW_KEY,
    OperationKind.FOREIGN_WINDOW_KEY,
    OperationKind.REVOKED_TYPE_1_KEY,
    OperationKind.REVOKED_TYPE_1_KEY,
    OperationKind.READ_BEYOND_WINDOW,
    OperationKind.INVALIDATE_UNKNOWN_KEY
  };

  private static final OperationKind[] FAILURES = {
    OperationKind.WRONG_KEY,
    OperationKind.READ_BEYOND_REGION,
    OperationKind.MISALIGNED,
    OperationKind.TOO_LARGE,
    OperationKind.FAIL,
    OperationKind.CLOSE
  };

  /** Generates the scenario of a seed over packets. */
  public static VerbsScenario generate(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int devices = 1 + random.nextInt(MAX_DEVICES);
    long latency = 500L + random.nextInt(3000);
    long span = 1L << (10 + random.nextInt(10));
    List<ConnectionConfig> links = new ArrayList<>();
    int count = 1 + random.nextInt(MAX_LINKS);
    for (int i = 0; i < count; i++) {
      // Adaptive flow control delays acknowledgements, so timeouts must be longer.
      links.add(link(random, devices, Scenario.isAdaptive(seed) ? EXTRA_TIMEOUT : 0));
    }
    List<Operation> operations = new ArrayList<>();
    boolean withGrants = random.nextInt(3) == 0;
    int steps = 1 + random.nextInt(MAX_OPERATIONS);
    if (withGrants) {
      addFirstGrants(random, operations, links, MAX_LENGTH);
    }
    for (int i = 0; i < steps; i++) {
      int link = random.nextInt(links.size());
      OperationKind kind = kind(random, links.get(link).type(), withGrants);
      operations.add(
          operation(random, operations.size(), link, kind, withGrants, span, MAX_LENGTH, true));
    }
    operations.sort(Comparator.comparingLong(Operation::at));
    return new VerbsScenario(
        seed,
        Medium.PACKETS,
        MAX_LENGTH,
        devices,
        random.nextBoolean(),
        random.nextInt(3) == 0,
        links,
        operations,
        FaultSchedule.random(random.nextLong(), devices, span, latency));
  }

  private static ConnectionConfig link(SplittableRandom random, int devices, int moreTimeout) {
    int first = random.nextInt(devices);
    int second = random.nextInt(8) == 0 ? first : random.nextInt(devices);
    return new ConnectionConfig(
        type(random),
        first,
        second,
        MTUS[random.nextInt(MTUS.length)],
        moreTimeout + 3 + random.nextInt(4),
        random.nextInt(8),
        random.nextInt(3) == 0 ? random.nextInt(7) : 7,
        1 + random.nextInt(12),
        psn(random),
        psn(random),
        1 + random.nextInt(4),
        2 + random.nextInt(15),
        random.nextInt(4) == 0,
        false,
        false,
        false);
  }

  private static QueuePairType type(SplittableRandom random) {
    return switch (random.nextInt(6)) {
      case 0 -> QueuePairType.UC;
      case 1 -> QueuePairType.UD;
      default -> QueuePairType.RC;
    };
  }

  /** Returns an initial PSN: in a third of the cases just below the wraparound. */
  private static int psn(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? (1 << PSN_BITS) - 1 - random.nextInt(24)
        : random.nextInt(1 << PSN_BITS);
  }

  static Operation operation(
      SplittableRandom random,
      int number,
      int link,
      OperationKind kind,
      boolean withGrants,
      long span,
      int maxLength,
      boolean late) {
    // The first grants are executed at time 0, all other operations after them.
    long at = (withGrants ? 1 : 0) + (random.nextInt(4) == 0 ? 0 : random.nextLong(span));
    // Most receives are posted before their message is sent.
    long receiveAt =
        late && random.nextInt(5) == 0 ? at + random.nextLong(span) : random.nextLong(at + 1);
    return new Operation(
        number,
        at,
        link,
        random.nextInt(2),
        kind,
        length(random, kind, maxLength),
        target(random, kind),
        random.nextInt(maxLength),
        random.nextInt(3) != 0,
        random.nextInt(8) == 0,
        random.nextInt(6) == 0,
        1 + random.nextInt(MAX_SEGMENTS),
        withGrants && random.nextInt(4) != 0,
        receiveAt);
  }

  private static int target(SplittableRandom random, OperationKind kind) {
    return switch (kind) {
      case FETCH_ADD, REVOKED_TYPE_1_KEY -> random.nextInt(COUNTERS);
      case REREGISTER -> REGISTERS - 1;
      // Mostly the grant of a region, because the key of a deallocated window is simply unknown.
      case DEALLOCATE, REVOKED_KEY -> Math.min(REGISTERS - 1, random.nextInt(2 * REGISTERS));
      default -> random.nextInt(REGISTERS);
    };
  }

  private static OperationKind kind(
      SplittableRandom random, QueuePairType type, boolean withGrants) {
    if (random.nextInt(DRAIN_INTERVAL) == 0) {
      return OperationKind.DRAIN;
    }
    boolean fails = random.nextInt(100) == 0;
    return switch (type) {
      case RC -> {
        if (withGrants && random.nextInt(5) < 2) {
          yield choose(random, random.nextInt(8) == 0 ? KEY_FAILURES : KEY_KINDS);
        }
        yield choose(random, fails ? FAILURES : KINDS);
      }
      case UC -> fails ? localFailure(random) : choose(random, CONNECTION_KINDS);
      case UD -> fails ? localFailure(random) : choose(random, DATAGRAM_KINDS);
    };
  }

  private static OperationKind localFailure(SplittableRandom random) {
    return random.nextBoolean() ? OperationKind.FAIL : OperationKind.CLOSE;
  }

  static OperationKind choose(SplittableRandom random, OperationKind[] kinds) {
    return kinds[random.nextInt(kinds.length)];
  }

  /** Starts the program with some grants, because operations on keys need one. */
  static void addFirstGrants(
      SplittableRandom random,
      List<Operation> operations,
      List<ConnectionConfig> links,
      int maxLength) {
    for (int link = 0; link < links.size(); link++) {
      for (int grant = 0; grant < REGISTERS; grant++) {
        for (int side = 0; side < 2; side++) {
          if (links.get(link).type() == QueuePairType.RC && random.nextInt(4) != 0) {
            operations.add(firstGrant(random, operations.size(), link, side, grant, maxLength));
          }
        }
      }
    }
  }

  private static Operation firstGrant(
      SplittableRandom random, int number, int link, int side, int grant, int maxLength) {
    OperationKind kind =
        random.nextInt(6) == 0 ? OperationKind.BIND_TYPE_1_WINDOW : OperationKind.GRANT_KEY;
    int offset = random.nextInt(maxLength);
    return new Operation(
        number, 0, link, side, kind, 0, grant, offset, true, false, false, 1, false, 0);
  }

  private static int length(SplittableRandom random, OperationKind kind, int maxLength) {
    return switch (kind) {
      case FETCH_ADD, REVOKED_TYPE_1_KEY, COMPARE_SWAP, MISALIGNED -> Long.BYTES;
      case READ_CELL -> maxLength + Long.BYTES;
      case TOO_LARGE -> maxLength + 1;
      // A request without payload does not use its key.
      case GRANT_KEY, LOCAL_INVALIDATE, BIND_TYPE_1_WINDOW, DEALLOCATE, REREGISTER, DRAIN -> 0;
      case WRONG_KEY, READ_BEYOND_REGION, REVOKED_KEY, FOREIGN_WINDOW_KEY, READ_BEYOND_WINDOW ->
          1 + random.nextInt(maxLength);
      default ->
          switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> 1 + random.nextInt(64);
            case 4 -> 256 * (1 + random.nextInt(4));
            default -> 1 + random.nextInt(maxLength);
          };
    };
  }

  @Override
  public FlowControl flowControl() {
    return medium == Medium.STREAMS ? FlowControl.FIXED : Scenario.super.flowControl();
  }

  @Override
  public RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> injectedFaults) {
    VerbsSimulation simulation = new VerbsSimulation(this, arena, trace);
    Throwable failure = null;
    try {
      simulation.run(injectedFaults);
    } catch (RuntimeException | AssertionError e) {
      failure = e;
    }
    return new RunResult(failure, simulation.packets(), simulation.injectedFaults());
  }

  @Override
  public VerbsScenario withFaults(FaultSchedule others) {
    return with(operations, others);
  }

  @Override
  public int stepCount() {
    return operations.size();
  }

  @Override
  public VerbsScenario withSteps(List<Integer> kept) {
    List<Operation> fewer = kept.stream().map(operations::get).toList();
    return with(fewer, faults);
  }

  private VerbsScenario with(List<Operation> otherOperations, FaultSchedule otherFaults) {
    return new VerbsScenario(
        seed,
        medium,
        maxLength,
        devices,
        sharedQueue,
        sharedReceives,
        links,
        otherOperations,
        otherFaults);
  }

  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%d devices, latency %d ns%s%s%n",
        devices,
        faults.latency(),
        sharedReceives ? ", shared receive queues" : "",
        flowControl().adaptive() ? ", " + flowControl() : "");
    for (int i = 0; i < links.size(); i++) {
      out.printf("  link %d: %s%n", i, links.get(i));
    }
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    operations.forEach(operation -> out.printf("  %s%n", operation));
  }
}
