package io.verbena.simulation.verbs;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.run.Arena;
import io.verbena.simulation.run.Outcome;
import io.verbena.simulation.run.Script;
import io.verbena.simulation.run.Trace;
import io.verbena.verbs.Mtu;
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
 * @param links the connections
 * @param operations what is done, by time
 * @param faults what the wire does
 */
public record Plan(
    long seed,
    int devices,
    boolean sharedQueue,
    List<LinkPlan> links,
    List<Operation> operations,
    FaultSchedule faults)
    implements Script {

  /** The most bytes of a message that a receive takes. */
  static final int MAX_LENGTH = 1024;

  static final int REGISTERS = 3;
  static final int COUNTERS = 4;
  static final int MAX_PIECES = 3;

  private static final int MAX_DEVICES = 3;
  private static final int MAX_LINKS = 4;
  private static final int MAX_OPERATIONS = Counter.MAX_ADDS;
  private static final int PSN_BITS = 24;
  private static final Mtu[] MTUS = {Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_256, Mtu.MTU_512};

  /** Weighted: what programs do most stands there most. */
  private static final Kind[] KINDS = {
    Kind.SEND,
    Kind.SEND,
    Kind.SEND_IMMEDIATE,
    Kind.WRITE,
    Kind.WRITE,
    Kind.WRITE_IMMEDIATE,
    Kind.READ,
    Kind.READ,
    Kind.FETCH_ADD,
    Kind.FETCH_ADD,
    Kind.COMPARE_SWAP
  };

  private static final Kind[] ENDINGS = {
    Kind.WRONG_KEY, Kind.BEYOND, Kind.MISALIGNED, Kind.TOO_LARGE, Kind.FAIL, Kind.CLOSE
  };

  /** The plan of a seed. */
  public static Plan of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int devices = 1 + random.nextInt(MAX_DEVICES);
    long latency = 500L + random.nextInt(3000);
    long span = 1L << (10 + random.nextInt(10));
    List<LinkPlan> links = new ArrayList<>();
    int count = 1 + random.nextInt(MAX_LINKS);
    for (int i = 0; i < count; i++) {
      links.add(link(random, devices));
    }
    List<Operation> operations = new ArrayList<>();
    int steps = 1 + random.nextInt(MAX_OPERATIONS);
    for (int i = 0; i < steps; i++) {
      operations.add(operation(random, i, count, span));
    }
    operations.sort(Comparator.comparingLong(Operation::at));
    return new Plan(
        seed,
        devices,
        random.nextBoolean(),
        links,
        operations,
        FaultSchedule.random(random.nextLong(), devices, span, latency));
  }

  private static LinkPlan link(SplittableRandom random, int devices) {
    int first = random.nextInt(devices);
    int second = random.nextInt(8) == 0 ? first : random.nextInt(devices);
    return new LinkPlan(
        first,
        second,
        MTUS[random.nextInt(MTUS.length)],
        3 + random.nextInt(4),
        random.nextInt(8),
        random.nextInt(3) == 0 ? random.nextInt(7) : 7,
        1 + random.nextInt(12),
        psn(random),
        psn(random),
        1 + random.nextInt(4),
        2 + random.nextInt(15),
        random.nextInt(4) == 0);
  }

  /** Often shortly before they wrap. */
  private static int psn(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? (1 << PSN_BITS) - 1 - random.nextInt(24)
        : random.nextInt(1 << PSN_BITS);
  }

  private static Operation operation(SplittableRandom random, int number, int links, long span) {
    Kind kind =
        random.nextInt(100) == 0
            ? ENDINGS[random.nextInt(ENDINGS.length)]
            : KINDS[random.nextInt(KINDS.length)];
    long at = random.nextInt(4) == 0 ? 0 : random.nextLong(span);
    // Mostly the receive is there before the message.
    long receiveAt = random.nextInt(5) == 0 ? at + random.nextLong(span) : random.nextLong(at + 1);
    return new Operation(
        number,
        at,
        random.nextInt(links),
        random.nextInt(2),
        kind,
        length(random, kind),
        random.nextInt(kind == Kind.FETCH_ADD ? COUNTERS : REGISTERS),
        random.nextInt(MAX_LENGTH),
        random.nextInt(3) != 0,
        random.nextInt(8) == 0,
        random.nextInt(6) == 0,
        1 + random.nextInt(MAX_PIECES),
        receiveAt);
  }

  private static int length(SplittableRandom random, Kind kind) {
    return switch (kind) {
      case FETCH_ADD, COMPARE_SWAP, MISALIGNED -> Long.BYTES;
      case TOO_LARGE -> MAX_LENGTH + 1;
      // Without a byte no key is looked at.
      case WRONG_KEY, BEYOND -> 1 + random.nextInt(MAX_LENGTH);
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
  public Outcome run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto) {
    World world = new World(this, arena, trace);
    Throwable failure = null;
    try {
      world.run(strikesInto);
    } catch (RuntimeException | AssertionError e) {
      failure = e;
    }
    return new Outcome(failure, world.packets(), world.strikes());
  }

  @Override
  public Plan withFaults(FaultSchedule others) {
    return new Plan(seed, devices, sharedQueue, links, operations, others);
  }

  @Override
  public int steps() {
    return operations.size();
  }

  @Override
  public Plan withSteps(List<Integer> kept) {
    List<Operation> fewer = kept.stream().map(operations::get).toList();
    return new Plan(seed, devices, sharedQueue, links, fewer, faults);
  }

  @Override
  public void print(PrintWriter out) {
    out.printf("%d devices, latency %d ns%n", devices, faults.latency());
    for (int i = 0; i < links.size(); i++) {
      out.printf("  link %d: %s%n", i, links.get(i));
    }
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    operations.forEach(operation -> out.printf("  %s%n", operation));
  }
}
