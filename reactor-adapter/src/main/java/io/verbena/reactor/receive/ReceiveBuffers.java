// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.reactor.queue.LoopResources;
import org.jspecify.annotations.Nullable;

/**
 * The shared state that connections of one loop receive with: a spare frame, and the count of what
 * they have copied.
 */
public final class ReceiveBuffers {
  /** The window of connections that are made while too much is copied. */
  private static final int WHEN_FULL = 16;

  private final LoopResources resources;
  private final CopiedBytes copies;
  private @Nullable ByteBuf spare;

  /** Buffers in the registered memory of {@code resources}; the spare one goes as the loop ends. */
  public ReceiveBuffers(LoopResources resources, RdmaOptions options) {
    this.resources = resources;
    copies = new CopiedBytes(options);
    resources.loop().atEnd(this::clear);
  }

  /** Returns the other shared resources of the loop's connections. */
  LoopResources resources() {
    return resources;
  }

  /** Copies of messages that wait. */
  CopiedBytes copies() {
    return copies;
  }

  /** The first grant of messages to a new peer, where {@code window} is the usual one. */
  public int firstWindow(int window) {
    return copies.isFull() ? Math.min(window, WHEN_FULL) : window;
  }

  /** Sees to it that there is a spare frame; returns false at the ceiling. */
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

  /** Takes the spare frame. */
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
