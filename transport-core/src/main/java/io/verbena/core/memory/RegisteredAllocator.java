// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Allocates registered buffers; at the limit it throws, or returns buffers in unregistered memory.
 * Makes heap buffers, which no HCA can access, only on explicit request. Thread-safe.
 */
final class RegisteredAllocator extends AbstractByteBufAllocator {
  private final Slabs slabs;
  private final boolean fallsBack;

  RegisteredAllocator(Slabs slabs, boolean fallsBack) {
    super(true);
    this.slabs = slabs;
    this.fallsBack = fallsBack;
  }

  // Netty would choose the heap on JVMs where it cannot free direct memory by itself.

  @Override
  public ByteBuf buffer() {
    return directBuffer();
  }

  @Override
  public ByteBuf buffer(int initialCapacity) {
    return directBuffer(initialCapacity);
  }

  @Override
  public ByteBuf buffer(int initialCapacity, int maxCapacity) {
    return directBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public CompositeByteBuf compositeBuffer() {
    return compositeDirectBuffer();
  }

  @Override
  public CompositeByteBuf compositeBuffer(int maxNumComponents) {
    return compositeDirectBuffer(maxNumComponents);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    RegisteredByteBuf free =
        fallsBack ? slabs.takeOrFallBack(initialCapacity) : slabs.take(initialCapacity);
    return free.begin(initialCapacity, maxCapacity, fallsBack);
  }

  /** As {@link RegisteredMemory#allocateAtOnce}. */
  @Nullable ByteBuf allocateAtOnce(int capacity) {
    RegisteredByteBuf free = slabs.takeAtOnce(capacity);
    return free == null ? null : free.begin(capacity, capacity, fallsBack);
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return true;
  }
}
