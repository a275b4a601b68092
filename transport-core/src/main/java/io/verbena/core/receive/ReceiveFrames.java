// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.ReceiveWorkRequest;

/**
 * The frames that the connections of a loop receive into, all of one length: allocates them, and
 * describes them to the HCA. Only on the loop.
 */
public final class ReceiveFrames {
  private final RegisteredMemory memory;
  private final int capacity;
  private final Location location = new Location();

  /**
   * Frames in {@code memory}.
   *
   * @param capacity the bytes of each
   */
  public ReceiveFrames(RegisteredMemory memory, int capacity) {
    this.memory = memory;
    this.capacity = capacity;
  }

  /** Returns the bytes of a frame. */
  public int capacity() {
    return capacity;
  }

  /**
   * Allocates a frame, which belongs to the caller.
   *
   * @throws MemoryLimitException at the ceiling
   */
  public ByteBuf allocate() {
    return memory.allocator().directBuffer(capacity, capacity);
  }

  /** Returns whether so little memory is left that it is to be kept for what cannot do without. */
  public boolean areScarce() {
    return memory.isScarce();
  }

  /** Describes the receive of a frame in {@code request}, which it returns. */
  ReceiveWorkRequest describe(ByteBuf frame, long id, ReceiveWorkRequest request) {
    if (!memory.locate(frame, 0, capacity, location)) {
      throw new IllegalStateException("not in registered memory: " + frame);
    }
    return request.id(id).buffer(location.address(), capacity, location.lkey());
  }
}
