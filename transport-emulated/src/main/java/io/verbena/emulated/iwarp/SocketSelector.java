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
 * A selector in which one thread sleeps, and from which others select at the same time: these have
 * entered the fabric, and end the sleep rather than wait for it.
 */
final class SocketSelector {
  private static final long MILLI_NANOS = 1_000_000;

  private final Selector selector = Selector.open();

  /**
   * True while the driver is about to sleep in the selector, and while another thread selects: each
   * sets its own before it reads the other's.
   */
  private volatile boolean sleeps;

  private volatile boolean asks;

  /**
   * True from a wake-up to the end of a sleep: who selects without sleeping takes the selector's.
   */
  private volatile boolean woken;

  /** Is called when its socket is ready. */
  interface Selected {
    /**
     * Handles that the socket is ready for operations.
     *
     * @return whether that had any effect
     */
    boolean ready(int operations);
  }

  SocketSelector() throws IOException {}

  SelectionKey register(SelectableChannel channel, int operations, Selected told)
      throws IOException {
    return channel.register(selector, operations, told);
  }

  /**
   * Calls an action for each socket that is ready, without sleeping; for those who have entered.
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
   * Sleeps until a socket is ready, which a later {@link #selectNow} reports; not at all once it is
   * closed.
   */
  void await(long nanos) {
    sleeps = true;
    try {
      if (!asks && !woken) {
        int unused = selector.select(key -> {}, Math.max(1, nanos / MILLI_NANOS));
      }
    } catch (ClosedSelectorException e) {
      // The HCA has ended, since its last device is closed: who waits for an event finds that out.
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "select: " + e, e);
    } finally {
      sleeps = false;
      woken = false;
    }
  }

  /** Ends a sleep, or the next one; for any thread. */
  void wakeup() {
    woken = true;
    selector.wakeup();
  }

  void close() throws IOException {
    selector.close();
  }
}
