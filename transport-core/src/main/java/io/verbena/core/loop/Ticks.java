// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.function.BooleanSupplier;

/**
 * Ticks of the loop's clock, for a connection that has deadlines only at times. Only on the loop.
 */
public final class Ticks {
  private final CompletionLoop loop;
  private final BooleanSupplier tick;
  private boolean asked;

  /**
   * The ticks of one connection.
   *
   * @param tick called on each tick from {@link #ask} on until it returns false; must not throw
   */
  public Ticks(CompletionLoop loop, BooleanSupplier tick) {
    this.loop = loop;
    this.tick = tick;
  }

  /** Requests ticks, because there is a deadline. */
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
