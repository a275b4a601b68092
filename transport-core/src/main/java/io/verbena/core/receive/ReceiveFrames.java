// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.ReceiveWorkRequest;

/**
 * Allocates the frames that the connections of a loop receive into, all of one length, and fills in
 * their work requests. Only on the loop.
 */
public final class ReceiveFrames {
  private final RegisteredMemory memory;
  private final int capacity;
  private final Location location = new Location();

  /**
   * Makes frames of {@code memory}.
   *
   * @param capacity the length of a frame, in bytes
   */
  public ReceiveFrames(RegisteredMemory memory, int capacity) {
    this.memory = memory;
    this.capacity = capacity;
  }

  /** Returns the length of a frame, in bytes. */
  public int capacity() {
    return capacity;
  }

  /**
   * Allocates a frame, which belongs to the caller.
   *
   * @throws MemoryLimitException if the limit on registered memory is reached
   */
  public ByteBuf allocate() {
    return memory.allocator().directBuffer(capacity, capacity);
  }

  /**
   * Returns whether registered memory {@linkplain RegisteredMemory#isScarce is scarce}, so that no
   * more frames than needed are to be allocated.
   */
  public boolean areScarce() {
    return memory.isScarce();
  }

  /** Fills in {@code request} to receive into a frame, and returns it. */
  ReceiveWorkRequest describe(ByteBuf frame, long id, ReceiveWorkRequest request) {
    if (!memory.locate(frame, 0, capacity, location)) {
      throw new IllegalStateException("not in registered memory: " + frame);
    }
    return request.id(id).buffer(location.address(), capacity, location.lkey());
  }
}
