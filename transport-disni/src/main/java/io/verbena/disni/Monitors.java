// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/** Waits until another thread has left a synchronized block. */
final class Monitors {
  private Monitors() {}

  /**
   * Waits until the thread that holds {@code monitor} now, if any, has left it; returns at once if
   * that thread is the caller.
   *
   * <p>To destroy an object that other threads check and use only under the monitor: mark it as
   * closed, call this method, destroy it. A thread that found it open has left the monitor by then.
   * A thread that enters the monitor later sees the mark (JLS 17.4.5) and does not use the object.
   */
  static void awaitHolder(Object monitor) {
    synchronized (monitor) {
      // Entering the monitor is the wait.
    }
  }
}
