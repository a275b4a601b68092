// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A buffer in registered memory. A free buffer keeps its block, so that allocating it again makes
 * no garbage. Only a buffer that grows beyond its block exchanges blocks with a free buffer. As
 * another holder of a reference may have posted the old block to the HCA, that block is not reused
 * before the last reference is released.
 *
 * <p>Retained slices have their own reference counts, and belong to the buffer: they are reused
 * with it. The first thread that slices the buffer gets the reused slices; other threads get new
 * ones.
 *
 * <p>The buffer itself tells Netty's leak detector of its use; there is no wrapper.
 */
final class RegisteredByteBuf extends RegisteredBytes {
  private static final int MOST_SLICES = 256;
  private static final RegisteredSlice[] NO_SLICES = {};
  private static final ResourceLeakDetector<RegisteredByteBuf> LEAKS =
      ResourceLeakDetectorFactory.instance().newResourceLeakDetector(RegisteredByteBuf.class);
  private static final VarHandle SLICER;

  static {
    try {
      SLICER =
          MethodHandles.lookup().findVarHandle(RegisteredByteBuf.class, "slicer", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
    ResourceLeakDetector.addExclusions(RegisteredByteBuf.class, "begin", "record", "touch");
  }

  private final ByteBufAllocator allocator;
  private final Slabs slabs;
  private Block block;
  private boolean fallsBack;
  private @Nullable ByteBuffer nioBuffer;
  private @Nullable ResourceLeakTracker<RegisteredByteBuf> leak;

  /**
   * The thread that uses {@link #slices}, until the buffer is free again. Not volatile: a thread
   * looks only for itself, which only its own write can have stored.
   */
  private @Nullable Thread slicer;

  private @Nullable RegisteredSlice[] slices = NO_SLICES;
  private int slicesUsed;

  /**
   * The buffers that now hold the former blocks of this one, which it outgrew while others held
   * references.
   */
  private @Nullable List<RegisteredByteBuf> outgrown;

  RegisteredByteBuf(ByteBufAllocator allocator, Slabs slabs, Block block) {
    super(0, null);
    this.allocator = allocator;
    this.slabs = slabs;
    this.block = block;
  }

  /**
   * Prepares the buffer for its next user, with one reference.
   *
   * @param growsUnregistered whether the buffer grows into unregistered memory at the limit; else
   *     growing throws
   */
  RegisteredByteBuf begin(int newCapacity, int newMaxCapacity, boolean growsUnregistered) {
    reset(0, newCapacity, newMaxCapacity);
    fallsBack = growsUnregistered;
    leak = LEAKS.track(this);
    return this;
  }

  Block block() {
    return block;
  }

  ByteBufAllocator allocator() {
    return allocator;
  }

  Slabs slabs() {
    return slabs;
  }

  @Override
  public ByteBuf capacity(int newCapacity) {
    checkNewCapacity(newCapacity);
    if (newCapacity > block.length) {
      growTo(newCapacity);
    } else if (newCapacity < capacity) {
      trimIndicesToCapacity(newCapacity);
    }
    capacity = newCapacity;
    return this;
  }

  private void growTo(int newCapacity) {
    RegisteredByteBuf other =
        fallsBack ? slabs.takeOrFallBack(newCapacity) : slabs.take(newCapacity);
    Block longer = other.block;
    longer.memory.put(longer.base, block.memory, block.base, capacity);
    other.block = block;
    other.nioBuffer = null;
    block = longer;
    nioBuffer = null;
    if (refCnt() == 1) {
      slabs.give(other);
      return;
    }
    List<RegisteredByteBuf> kept = outgrown;
    if (kept == null) {
      kept = new ArrayList<>(2);
      outgrown = kept;
    }
    kept.add(other);
  }

  @Override
  public int maxFastWritableBytes() {
    return Math.min(block.length, maxCapacity()) - writerIndex();
  }

  @Override
  public @Nullable ByteBuf unwrap() {
    return null;
  }

  @Override
  ByteBuffer exclusiveNioBuffer(int index, int length) {
    checkIndex(index, length);
    ByteBuffer buffer = nioBuffer;
    if (buffer == null) {
      buffer = block.memory.slice(block.base, block.length);
      nioBuffer = buffer;
    }
    return buffer.clear().position(index).limit(index + length);
  }

  /**
   * Returns a slice with a reference count of its own, which holds one reference of this buffer.
   */
  RegisteredSlice sliceRetained(int index, int length) {
    retain();
    RegisteredSlice slice = freeSlice();
    slice.reset(index, length, length);
    return slice.writerIndexAtEnd();
  }

  private RegisteredSlice freeSlice() {
    Thread current = Thread.currentThread();
    if (slicer != current && !SLICER.compareAndSet(this, null, current)) {
      return new RegisteredSlice(this);
    }
    int at = slicesUsed;
    if (at == slices.length) {
      if (at == MOST_SLICES) {
        return new RegisteredSlice(this);
      }
      slices = Arrays.copyOf(slices, Math.max(4, at << 1));
    }
    RegisteredSlice slice = slices[at];
    if (slice == null) {
      slice = new RegisteredSlice(this);
      slices[at] = slice;
    }
    slicesUsed = at + 1;
    return slice;
  }

  @Override
  public ByteBuf retain() {
    record();
    return super.retain();
  }

  @Override
  public ByteBuf retain(int increment) {
    record();
    return super.retain(increment);
  }

  @Override
  public boolean release() {
    record();
    return super.release();
  }

  @Override
  public boolean release(int decrement) {
    record();
    return super.release(decrement);
  }

  @Override
  public ByteBuf touch() {
    return touch(this);
  }

  @Override
  public ByteBuf touch(@Nullable Object hint) {
    ResourceLeakTracker<RegisteredByteBuf> tracker = leak;
    if (tracker != null) {
      tracker.record(hint);
    }
    return this;
  }

  /**
   * Prepares the buffer for its next use, if the caller holds the only reference; only its owner
   * may call this.
   *
   * @return false if there is another reference
   */
  boolean reuse() {
    if (refCnt() != 1) {
      return false;
    }
    forgetSlices();
    return true;
  }

  private void forgetSlices() {
    if (slicesUsed != 0) {
      slicesUsed = 0;
      slicer = null;
    }
  }

  private void record() {
    ResourceLeakTracker<RegisteredByteBuf> tracker = leak;
    if (tracker != null && LEAKS.isRecordEnabled()) {
      tracker.record();
    }
  }

  @Override
  protected void deallocate() {
    ResourceLeakTracker<RegisteredByteBuf> tracker = leak;
    if (tracker != null) {
      leak = null;
      tracker.close(this);
    }
    forgetSlices();
    List<RegisteredByteBuf> kept = outgrown;
    if (kept != null) {
      outgrown = null;
      kept.forEach(slabs::give);
    }
    slabs.give(this);
  }
}
