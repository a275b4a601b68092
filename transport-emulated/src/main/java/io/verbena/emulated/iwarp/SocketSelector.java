// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * A selector in which one thread sleeps, while another thread may select without sleeping. The
 * other thread has entered the fabric, and ends the sleep rather than wait for its end.
 */
final class SocketSelector {
  private static final long MILLI_NANOS = 1_000_000;

  private final Selector selector = Selector.open();

  /**
   * True while the driver sleeps, or is about to; {@link #asks} is true while another thread
   * selects. Each thread sets its own field before it reads the other.
   */
  private volatile boolean sleeps;

  private volatile boolean asks;

  /**
   * True from a wake-up to the end of a sleep. The selector's own wake-up is not enough: a select
   * without a sleep consumes it.
   */
  private volatile boolean woken;

  /** The handler of a socket's events. */
  interface Selected {
    /**
     * Handles a socket that is ready for operations, which are those of a selection key.
     *
     * @return whether the call had any effect
     */
    boolean ready(int operations);
  }

  SocketSelector() throws IOException {}

  SelectionKey register(SelectableChannel channel, int operations, Selected listener)
      throws IOException {
    return channel.register(selector, operations, listener);
  }

  /**
   * Calls an action for each socket that is ready, without sleeping; for threads that have entered
   * the fabric.
   */
  void selectNow(Consumer<SelectionKey> action) throws IOException {
    asks = true;
    try {
      if (sleeps) {
        selector.wakeup();
      }
      int unused = selector.selectNow(action);
    } finally {
      asks = false;
      if (sleeps && woken) {
        selector.wakeup();
      }
    }
  }

  /**
   * Sleeps until a socket is ready, which a later {@link #selectNow} reports, or {@link #wakeup} is
   * called. Returns at once if the selector is closed.
   *
   * @param nanos the longest time to sleep, in whole milliseconds, at least one
   */
  void await(long nanos) {
    sleeps = true;
    try {
      if (!asks && !woken) {
        int unused = selector.select(key -> {}, Math.max(1, nanos / MILLI_NANOS));
      }
    } catch (ClosedSelectorException e) {
      // The HCA has ended, since its last device is closed; a thread that waits for an event finds
      // out.
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "select: " + e, e);
    } finally {
      sleeps = false;
      woken = false;
    }
  }

  /** Ends the current sleep, or the next one; for any thread. */
  void wakeup() {
    woken = true;
    selector.wakeup();
  }

  void close() throws IOException {
    selector.close();
  }
}
