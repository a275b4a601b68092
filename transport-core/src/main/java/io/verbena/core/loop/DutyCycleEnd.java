// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/**
 * The action that a connection runs at the end of a duty cycle, if it asked for that. Only on the
 * loop.
 */
public final class DutyCycleEnd {
  private final DutyCycleEnds ends;
  private final Runnable action;
  private boolean asked;
  private boolean closed;

  /**
   * Belongs to one connection.
   *
   * @param ends of its loop
   * @param action run once a duty cycle in which {@link #ask} was called
   */
  public DutyCycleEnd(DutyCycleEnds ends, Runnable action) {
    this.ends = ends;
    this.action = action;
  }

  /** Asks for the action at the end of this duty cycle, once; within the action, of the next. */
  public void ask() {
    if (!asked && !closed) {
      asked = true;
      ends.add(this);
    }
  }

  void run() {
    asked = false;
    action.run();
  }

  /** The connection has ended: asks for nothing any more. */
  public void close() {
    closed = true;
  }
}
