// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.reactor.queue.LoopResources;
import org.jspecify.annotations.Nullable;

/**
 * The state for receiving that the connections of a loop share: a spare frame, and the count of
 * copied bytes. Only on the loop.
 */
public final class ReceiveBuffers {
  /** The window of connections that are made while too many bytes are copied. */
  private static final int WHEN_FULL = 16;

  private final LoopResources resources;
  private final CopiedBytes copies;
  private @Nullable ByteBuf spare;

  /**
   * Creates the buffers, in the registered memory of {@code resources}; the spare frame is released
   * when the loop ends.
   */
  public ReceiveBuffers(LoopResources resources, RdmaOptions options) {
    this.resources = resources;
    copies = new CopiedBytes(options);
    resources.loop().atEnd(this::clear);
  }

  /** Returns the other shared resources of the loop's connections. */
  LoopResources resources() {
    return resources;
  }

  /** Returns the count of copied bytes. */
  CopiedBytes copies() {
    return copies;
  }

  /**
   * Returns the first grant of messages to a new peer: {@code window}, or less while too many bytes
   * are copied.
   */
  public int firstWindow(int window) {
    return copies.isFull() ? Math.min(window, WHEN_FULL) : window;
  }

  /** Allocates a spare frame if there is none; returns false at the limit on registered memory. */
  boolean hasSpare() {
    if (spare == null) {
      try {
        spare = resources.newFrame();
      } catch (MemoryLimitException e) {
        return false;
      }
    }
    return true;
  }

  /** Takes the spare frame, which belongs to the caller. */
  ByteBuf takeSpare() {
    ByteBuf frame = spare;
    if (frame == null) {
      throw new IllegalStateException("no spare frame");
    }
    spare = null;
    return frame;
  }

  private void clear() {
    ByteBuf frame = spare;
    if (frame != null) {
      spare = null;
      frame.release();
    }
  }
}
