package io.verbena.core.loop;

import java.util.function.BooleanSupplier;

/**
 * Gives turns and the time to the loops and desks of a transport, in place of threads of their own:
 * for simulations, where one thread does everything and the time is virtual. All methods are called
 * by that thread.
 */
public interface Conductor {

  /** The time, in nanoseconds from some moment on; never goes back. */
  long nanoTime();

  /** Takes in something that is to be given turns until it is over. */
  void add(Turns turns);

  /**
   * Gives turns to all, and lets the time go on, until something has come to pass. Not called
   * within a turn.
   *
   * @param nanos how long it may take at the most
   * @return whether it has
   */
  boolean awaitFor(BooleanSupplier done, long nanos);

  /** Something that has work to do again and again. */
  interface Turns {

    /** Does what there is to do now; answers whether there was any. */
    boolean turn();

    /** Whether there will be no more to do. */
    boolean isOver();
  }
}
