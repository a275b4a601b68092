package io.verbena.simulation.scenario;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import java.io.PrintWriter;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A run that is to be: all that happens in it follows from this alone. Immutable. */
public interface Scenario {
  /** The most that is under way where less may be. */
  int MOST_PACKETS = 32;

  /** The most that a READ asks for at once there. */
  int MOST_READ_PACKETS = 5;

  /**
   * Runs it. After a failure the arena is of no more use.
   *
   * @param trace who tells what happens, or null
   * @param strikesInto gets what the wire did to single packets, if not null
   */
  RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto);

  /** What keys, numbers and all chance that is in none of its steps are made of. */
  long seed();

  /** Whether the queue pairs of a run work as on UDP sockets: in one run in four. */
  static boolean adapts(long seed) {
    return (seed & 3) == 3;
  }

  /** How much is under way: as on UDP sockets, or as on a lossless network. */
  default FlowControl flow() {
    if (!adapts(seed())) {
      return FlowControl.FIXED;
    }
    SplittableRandom random = new SplittableRandom(~seed());
    return new FlowControl(
        1 + random.nextInt(MOST_PACKETS), 1 + random.nextInt(MOST_READ_PACKETS), true);
  }

  /** What the wire does. */
  FaultSchedule faults();

  /** The same on another wire. */
  Scenario withFaults(FaultSchedule others);

  /** How many steps its program has. */
  int steps();

  /**
   * The same with some of its steps only.
   *
   * @param kept their places, ascending
   */
  Scenario withSteps(List<Integer> kept);

  /** Tells it to people. */
  void print(PrintWriter out);
}
