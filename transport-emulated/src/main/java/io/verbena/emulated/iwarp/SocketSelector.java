// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

/**
 * A selector in which one thread sleeps, and from which others select: those have entered the
 * fabric, and do not wait for a sleep to end by itself.
 */
final class SocketSelector {
  private static final long MILLI_NANOS = 1_000_000;

  private final Selector selector = Selector.open();

  /**
   * Whether the driver is about to sleep in the selector, and whether another asks that: each says
   * so before it looks at the other's.
   */
  private volatile boolean sleeps;

  private volatile boolean asks;

  /** What is told of its socket. */
  interface Selected {
    /**
     * The socket is ready for operations.
     *
     * @return whether that led to anything
     */
    boolean ready(int operations);
  }

  SocketSelector() throws IOException {}

  SelectionKey register(SelectableChannel channel, int operations, Selected told)
      throws IOException {
    return channel.register(selector, operations, told);
  }

  /** For those who have entered. */
  void selectNow(Consumer<SelectionKey> action) throws IOException {
    asks = true;
    try {
      if (sleeps) {
        selector.wakeup();
      }
      int unused = selector.selectNow(action);
    } finally {
      asks = false;
    }
  }

  /** Sleeps until a socket is ready, which a later {@link #selectNow} tells. */
  void await(long nanos) {
    sleeps = true;
    try {
      if (!asks) {
        int unused = selector.select(key -> {}, Math.max(1, nanos / MILLI_NANOS));
      }
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "select: " + e, e);
    } finally {
      sleeps = false;
    }
  }

  /** Ends that sleep, or the next one; for any thread. */
  void wakeup() {
    selector.wakeup();
  }

  void close() throws IOException {
    selector.close();
  }
}
