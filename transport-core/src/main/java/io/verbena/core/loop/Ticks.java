// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.function.BooleanSupplier;

/** The ticks of the loop's clock for one that has deadlines now and then. Only on the loop. */
public final class Ticks {
  private final CompletionLoop loop;
  private final BooleanSupplier tick;
  private boolean asked;

  /**
   * Belongs to one connection.
   *
   * @param tick called on each tick from {@link #ask} on until it returns false; must not throw
   */
  public Ticks(CompletionLoop loop, BooleanSupplier tick) {
    this.loop = loop;
    this.tick = tick;
  }

  /** There is a deadline. */
  public void ask() {
    if (!asked) {
      asked = true;
      loop.add(this);
    }
  }

  boolean run() {
    boolean goesOn = tick.getAsBoolean();
    asked = goesOn;
    return goesOn;
  }
}
