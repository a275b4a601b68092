// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Waits for another thread that is in a synchronized block. */
final class Monitors {
  private Monitors() {}

  /**
   * Returns once the thread that holds {@code monitor} now, if any, has left it; returns at once if
   * that is the caller.
   *
   * <p>To destroy an object that others look at and use under the monitor alone: mark it as closed,
   * call this, destroy it. A thread that found it open held the monitor and has left it; one that
   * enters later sees the mark (JLS 17.4.5), and does not use it.
   */
  static void awaitHolder(Object monitor) {
    synchronized (monitor) {
      // Nothing to do in it: to enter it is to wait.
    }
  }
}
