// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import io.verbena.emulated.wire.Fault.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The faults and the latency of a wire in one run.
 *
 * @param latency the nanoseconds from sending to arrival of a packet that no fault delays
 * @param faults the faults, in the order in which they are applied
 */
public record FaultSchedule(long latency, List<Fault> faults) {

  /** The kinds of faults in a random schedule. */
  private static final List<Kind> KINDS =
      List.of(
          Kind.LOSS,
          Kind.DELAY,
          Kind.REORDER,
          Kind.DUPLICATE,
          Kind.CORRUPTION,
          Kind.PARTITION,
          Kind.STOP);

  private static final int MOST_FAULTS = 6;
  private static final int MOST_BITS = 8;
  private static final int MOST_PER_MILLION = 250_000;

  /** Copies the list; throws {@link IllegalArgumentException} if the latency is negative. */
  public FaultSchedule {
    if (latency < 0) {
      throw new IllegalArgumentException("latency: " + latency + " (expected: >= 0)");
    }
    faults = List.copyOf(faults);
  }

  /** Returns a schedule without faults. */
  public static FaultSchedule none(long latency) {
    return new FaultSchedule(latency, List.of());
  }

  /**
   * Returns a random schedule; the same arguments give the same schedule. One in eight has no
   * faults.
   *
   * @param seed the seed of its random draws
   * @param ports the number of ports of the wire
   * @param span the nanoseconds within which faults begin
   * @param latency the latency of a packet in nanoseconds
   */
  public static FaultSchedule random(long seed, int ports, long span, long latency) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Fault> faults = new ArrayList<>();
    if (random.nextInt(8) != 0) {
      int count = 1 + random.nextInt(MOST_FAULTS);
      for (int i = 0; i < count; i++) {
        faults.add(fault(random, ports, span, latency));
      }
    }
    return new FaultSchedule(latency, faults);
  }

  private static Fault fault(SplittableRandom random, int ports, long span, long latency) {
    Kind kind = KINDS.get(random.nextInt(KINDS.size()));
    int source = Fault.ANY;
    int destination = Fault.ANY;
    if (kind == Kind.STOP || kind == Kind.PARTITION || random.nextBoolean()) {
      source = random.nextInt(ports);
      destination = ports == 1 ? source : (source + 1 + random.nextInt(ports - 1)) % ports;
    }
    long from = random.nextInt(3) == 0 ? 0 : random.nextLong(span);
    boolean total = kind == Kind.STOP || kind == Kind.PARTITION || random.nextInt(8) == 0;
    long until =
        random.nextInt(total ? 16 : 3) == 0
            ? Long.MAX_VALUE
            : from + 1 + random.nextLong(total ? span / 4 : span);
    int perMillion = total ? Fault.ALWAYS : 1 + random.nextInt(MOST_PER_MILLION);
    long amount =
        kind == Kind.CORRUPTION
            ? 1 + random.nextInt(MOST_BITS)
            : 1 + random.nextLong((latency + 1) << random.nextInt(7));
    return new Fault(
        kind, source, destination, from, until, Fault.ANY, perMillion, amount, random.nextLong());
  }
}
