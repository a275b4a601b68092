package io.verbena.simulation.verbs;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
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
 * All that happens in one run that does not follow from the rest: a program and the faults of its
 * wire.
 *
 * @param seed what it was made of, and what keys and numbers are made of
 * @param devices how many HCAs there are
 * @param sharedQueue whether the ends on a device share a completion queue
 * @param sharedReceives whether ends of the same type on a device share their receives
 * @param links the connections
 * @param operations what is done, by time
 * @param faults what the wire does
 */
public record VerbsScenario(
    long seed,
    int devices,
    boolean sharedQueue,
    boolean sharedReceives,
    List<ConnectionConfig> links,
    List<Operation> operations,
    FaultSchedule faults)
    implements Scenario {

  /** The most bytes of a message that a receive takes. */
  static final int MAX_LENGTH = 1024;

  static final int REGISTERS = 3;
  static final int COUNTERS = 4;
  static final int MAX_PIECES = 3;

  private static final int MAX_DEVICES = 3;
  private static final int MAX_LINKS = 4;
  private static final int MAX_OPERATIONS = Counter.MAX_ADDS;
  private static final int PSN_BITS = 24;
  private static final int ONE_DRAIN_IN = 24;
  private static final int DELAYED = 3;
  private static final Mtu[] MTUS = {Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_512};

  /** Weighted: what programs do most stands there most. */
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

  /** What programs do besides whose memory peers reach by keys of its own. */
  private static final OperationKind[] DOOR_KINDS = {
    OperationKind.OPEN,
    OperationKind.OPEN,
    OperationKind.INVALIDATE,
    OperationKind.DEALLOCATE,
    OperationKind.DEALLOCATE,
    OperationKind.GIVE_BACK,
    OperationKind.GIVE_BACK,
    OperationKind.REREGISTER,
    OperationKind.REREGISTER,
    OperationKind.REREGISTER,
    OperationKind.BIND_ANEW
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
    OperationKind.SEND, OperationKind.SEND, OperationKind.SEND_IMMEDIATE, OperationKind.WRONG_QUEUE_KEY, OperationKind.TOO_LARGE
  };

  private static final OperationKind[] DOOR_ENDINGS = {
    OperationKind.DEAD_KEY,
    OperationKind.DEAD_KEY,
    OperationKind.DEAD_KEY,
    OperationKind.OTHERS_KEY,
    OperationKind.OTHERS_KEY,
    OperationKind.DEAD_ADD,
    OperationKind.DEAD_ADD,
    OperationKind.BEYOND_DOOR,
    OperationKind.INVALIDATE_NOTHING
  };

  private static final OperationKind[] ENDINGS = {
    OperationKind.WRONG_KEY, OperationKind.BEYOND, OperationKind.MISALIGNED, OperationKind.TOO_LARGE, OperationKind.FAIL, OperationKind.CLOSE
  };

  /** The plan of a seed. */
  public static VerbsScenario of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int devices = 1 + random.nextInt(MAX_DEVICES);
    long latency = 500L + random.nextInt(3000);
    long span = 1L << (10 + random.nextInt(10));
    List<ConnectionConfig> links = new ArrayList<>();
    int count = 1 + random.nextInt(MAX_LINKS);
    for (int i = 0; i < count; i++) {
      // Where acknowledgements may be late, who waits for them has to know.
      links.add(link(random, devices, Scenario.adapts(seed) ? DELAYED : 0));
    }
    List<Operation> operations = new ArrayList<>();
    boolean doors = random.nextInt(3) == 0;
    int steps = 1 + random.nextInt(MAX_OPERATIONS);
    if (doors) {
      open(random, operations, links);
    }
    for (int i = 0; i < steps; i++) {
      operations.add(operation(random, operations.size(), links, doors, span));
    }
    operations.sort(Comparator.comparingLong(Operation::at));
    return new VerbsScenario(
        seed,
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
        random.nextInt(4) == 0);
  }

  private static QueuePairType type(SplittableRandom random) {
    return switch (random.nextInt(6)) {
      case 0 -> QueuePairType.UC;
      case 1 -> QueuePairType.UD;
      default -> QueuePairType.RC;
    };
  }

  /** Often shortly before they wrap. */
  private static int psn(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? (1 << PSN_BITS) - 1 - random.nextInt(24)
        : random.nextInt(1 << PSN_BITS);
  }

  private static Operation operation(
      SplittableRandom random, int number, List<ConnectionConfig> links, boolean doors, long span) {
    int link = random.nextInt(links.size());
    OperationKind kind = kind(random, links.get(link).type(), doors);
    // Doors that are opened first are open a moment later.
    long at = (doors ? 1 : 0) + (random.nextInt(4) == 0 ? 0 : random.nextLong(span));
    // Mostly the receive is there before the message.
    long receiveAt = random.nextInt(5) == 0 ? at + random.nextLong(span) : random.nextLong(at + 1);
    return new Operation(
        number,
        at,
        link,
        random.nextInt(2),
        kind,
        length(random, kind),
        target(random, kind),
        random.nextInt(MAX_LENGTH),
        random.nextInt(3) != 0,
        random.nextInt(8) == 0,
        random.nextInt(6) == 0,
        1 + random.nextInt(MAX_PIECES),
        doors && random.nextInt(4) != 0,
        receiveAt);
  }

  private static int target(SplittableRandom random, OperationKind kind) {
    return switch (kind) {
      case FETCH_ADD, DEAD_ADD -> random.nextInt(COUNTERS);
      case REREGISTER -> REGISTERS - 1;
      // Mostly the door that is a region: a window's key then names nothing at all.
      case DEALLOCATE, DEAD_KEY -> Math.min(REGISTERS - 1, random.nextInt(2 * REGISTERS));
      default -> random.nextInt(REGISTERS);
    };
  }

  private static OperationKind kind(SplittableRandom random, QueuePairType type, boolean doors) {
    if (random.nextInt(ONE_DRAIN_IN) == 0) {
      return OperationKind.DRAIN;
    }
    boolean ends = random.nextInt(100) == 0;
    return switch (type) {
      case RC -> {
        if (doors && random.nextInt(5) < 2) {
          yield any(random, random.nextInt(8) == 0 ? DOOR_ENDINGS : DOOR_KINDS);
        }
        yield any(random, ends ? ENDINGS : KINDS);
      }
      case UC -> ends ? ending(random) : any(random, CONNECTION_KINDS);
      case UD -> ends ? ending(random) : any(random, DATAGRAM_KINDS);
    };
  }

  private static OperationKind ending(SplittableRandom random) {
    return random.nextBoolean() ? OperationKind.FAIL : OperationKind.CLOSE;
  }

  private static OperationKind any(SplittableRandom random, OperationKind[] kinds) {
    return kinds[random.nextInt(kinds.length)];
  }

  /** Has some doors opened first of all, as nothing else can be done with them before. */
  private static void open(
      SplittableRandom random, List<Operation> operations, List<ConnectionConfig> links) {
    for (int link = 0; link < links.size(); link++) {
      for (int door = 0; door < REGISTERS; door++) {
        for (int side = 0; side < 2; side++) {
          if (links.get(link).type() == QueuePairType.RC && random.nextInt(4) != 0) {
            operations.add(opening(random, operations.size(), link, side, door));
          }
        }
      }
    }
  }

  private static Operation opening(
      SplittableRandom random, int number, int link, int side, int door) {
    OperationKind kind = random.nextInt(6) == 0 ? OperationKind.BIND_ANEW : OperationKind.OPEN;
    int offset = random.nextInt(MAX_LENGTH);
    return new Operation(
        number, 0, link, side, kind, 0, door, offset, true, false, false, 1, false, 0);
  }

  private static int length(SplittableRandom random, OperationKind kind) {
    return switch (kind) {
      case FETCH_ADD, DEAD_ADD, COMPARE_SWAP, MISALIGNED -> Long.BYTES;
      case TOO_LARGE -> MAX_LENGTH + 1;
      // Without a byte no key is looked at.
      case OPEN, INVALIDATE, BIND_ANEW, DEALLOCATE, REREGISTER, DRAIN -> 0;
      case WRONG_KEY, BEYOND, DEAD_KEY, OTHERS_KEY, BEYOND_DOOR -> 1 + random.nextInt(MAX_LENGTH);
      default ->
          switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> 1 + random.nextInt(64);
            case 4 -> 256 * (1 + random.nextInt(4));
            default -> 1 + random.nextInt(MAX_LENGTH);
          };
    };
  }

  @Override
  public RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto) {
    VerbsSimulation world = new VerbsSimulation(this, arena, trace);
    Throwable failure = null;
    try {
      world.run(strikesInto);
    } catch (RuntimeException | AssertionError e) {
      failure = e;
    }
    return new RunResult(failure, world.packets(), world.strikes());
  }

  @Override
  public VerbsScenario withFaults(FaultSchedule others) {
    return new VerbsScenario(seed, devices, sharedQueue, sharedReceives, links, operations, others);
  }

  @Override
  public int steps() {
    return operations.size();
  }

  @Override
  public VerbsScenario withSteps(List<Integer> kept) {
    List<Operation> fewer = kept.stream().map(operations::get).toList();
    return new VerbsScenario(seed, devices, sharedQueue, sharedReceives, links, fewer, faults);
  }

  @Override
  public void print(PrintWriter out) {
    out.printf(
        "%d devices, latency %d ns%s%s%n",
        devices,
        faults.latency(),
        sharedReceives ? ", shared receive queues" : "",
        flow().adaptive() ? ", " + flow() : "");
    for (int i = 0; i < links.size(); i++) {
      out.printf("  link %d: %s%n", i, links.get(i));
    }
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    operations.forEach(operation -> out.printf("  %s%n", operation));
  }
}
