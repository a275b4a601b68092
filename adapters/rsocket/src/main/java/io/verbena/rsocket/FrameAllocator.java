// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.MemoryLimitException;

/**
 * Allocates the buffers that RSocket writes frames into: registered memory; at its limit other
 * direct memory; if the JVM has none left, heap memory. The latter two are copied when they are
 * sent. RSocket does not handle a failing allocator: a failure would end its keep-alives or its
 * receiving for good, and so the connection with all its streams. Thread-safe.
 */
final class FrameAllocator extends AbstractByteBufAllocator {
  private final ByteBufAllocator registered;
  private final ByteBufAllocator other;

  /**
   * @param registered fails at the limit of registered memory
   */
  FrameAllocator(ByteBufAllocator registered) {
    this(registered, PooledByteBufAllocator.DEFAULT);
  }

  FrameAllocator(ByteBufAllocator registered, ByteBufAllocator other) {
    super(true);
    this.registered = registered;
    this.other = other;
  }

  // Direct buffers, as from the allocator of registered memory: where Netty cannot free direct
  // memory by itself, the superclass would choose the heap, which no HCA reaches.

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
    try {
      return registered.directBuffer(initialCapacity, maxCapacity);
    } catch (MemoryLimitException full) {
      return otherBuffer(initialCapacity, maxCapacity);
    }
  }

  private ByteBuf otherBuffer(int initialCapacity, int maxCapacity) {
    try {
      return other.directBuffer(initialCapacity, maxCapacity);
    } catch (OutOfMemoryError noDirectMemory) {
      return other.heapBuffer(initialCapacity, maxCapacity);
    }
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return registered.heapBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return true;
  }
}
