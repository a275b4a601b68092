// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** An action that a connection may request for the end of a duty cycle. Only on the loop. */
public final class DutyCycleEnd {
  private final DutyCycleEnds ends;
  private final Runnable action;
  private boolean asked;
  private boolean closed;

  /**
   * The action of one connection.
   *
   * @param ends the requested actions of the connection's loop
   * @param action runs once in each duty cycle in which {@link #ask} was called
   */
  public DutyCycleEnd(DutyCycleEnds ends, Runnable action) {
    this.ends = ends;
    this.action = action;
  }

  /**
   * Requests one run of the action at the end of this duty cycle; within the action, of the next.
   */
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

  /** Called when the connection has ended: further requests do nothing. */
  public void close() {
    closed = true;
  }
}
