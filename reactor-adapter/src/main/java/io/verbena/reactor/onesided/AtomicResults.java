// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the previous values that atomics return: 8 bytes for each slot of the send queue.
 * Only on the loop.
 */
final class AtomicResults {
  private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

  private final LoopResources resources;
  private final int slots;
  private @Nullable ByteBuf buffer;
  private long address;
  private int lkey;

  AtomicResults(LoopResources resources, int slots) {
    this.resources = resources;
    this.slots = slots;
  }

  /**
   * Allocates the memory before the first atomic.
   *
   * @throws io.verbena.MemoryLimitException at the limit on registered memory
   */
  void prepare() {
    if (buffer == null) {
      ByteBuf fresh = resources.memory().allocator().directBuffer(slots * Long.BYTES);
      Location at = resources.locate(fresh, 0, slots * Long.BYTES);
      address = at.address();
      lkey = at.lkey();
      buffer = fresh;
    }
  }

  long address(int slot) {
    return address + (long) slot * Long.BYTES;
  }

  int lkey() {
    return lkey;
  }

  long get(int slot) {
    ByteBuf results = buffer;
    if (results == null) {
      throw new IllegalStateException("no results");
    }
    int at = slot * Long.BYTES;
    return BIG_ENDIAN ? results.getLong(at) : results.getLongLE(at);
  }

  void release() {
    ByteBuf results = buffer;
    if (results != null) {
      buffer = null;
      results.release();
    }
  }
}
