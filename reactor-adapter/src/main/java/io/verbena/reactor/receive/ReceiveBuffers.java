// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The buffers that the connections of one loop receive frames into: allocates them, keeps a spare
 * one, and describes them to the HCA.
 */
public final class ReceiveBuffers {
  /** The window of connections that are made while too much is copied. */
  private static final int WHEN_FULL = 16;

  private final LoopResources resources;
  private final CopiedBytes copies;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest();
  private @Nullable ByteBuf spare;

  /** Buffers in the registered memory of {@code resources}; the spare one goes as the loop ends. */
  public ReceiveBuffers(LoopResources resources, RdmaOptions options) {
    this.resources = resources;
    copies = new CopiedBytes(options);
    resources.loop().atEnd(this::clear);
  }

  /** What else the connections of the loop share. */
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

  /** A receive for a frame. */
  ReceiveWorkRequest request(ByteBuf frame, long id) {
    int capacity = resources.frameCapacity();
    Location at = resources.locate(frame, 0, capacity);
    return request.id(id).buffer(at.address(), capacity, at.lkey());
  }

  /**
   * Allocates a frame to receive into.
   *
   * @throws MemoryLimitException at the ceiling
   */
  ByteBuf newFrame() {
    return resources.newFrame();
  }

  /** Sees to it that there is a spare frame; returns false at the ceiling. */
  boolean hasSpare() {
    if (spare == null) {
      try {
        spare = newFrame();
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
