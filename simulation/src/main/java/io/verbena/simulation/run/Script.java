package io.verbena.simulation.run;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run that is to be: all that happens in it follows from this alone. Immutable. */
public interface Script {

  /**
   * Runs it. After a failure the arena is of no more use.
   *
   * @param trace who tells what happens, or null
   * @param strikesInto gets what the wire did to single packets, if not null
   */
  Outcome run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto);

  /** What the wire does. */
  FaultSchedule faults();

  /** The same on another wire. */
  Script withFaults(FaultSchedule others);

  /** How many steps its program has. */
  int steps();

  /**
   * The same with some of its steps only.
   *
   * @param kept their places, ascending
   */
  Script withSteps(List<Integer> kept);

  /** Tells it to people. */
  void print(PrintWriter out);
}
