// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.verbena.LocalAccessException;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.Lease;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * A read into a buffer of the caller, which is retained until the read ends. If the buffer gets
 * other memory meanwhile, by growing for example, the read fails, as the bytes went into the old
 * memory. Old memory of the transport's allocator is not used again before the read ends; other
 * memory is up to its allocator. A composite buffer gets a copy of the bytes, as it may release a
 * component meanwhile.
 */
final class ReadIntoOperation extends OneSidedOperation<Void> {
  private final ByteBuf into;
  private boolean held;
  private @Nullable ByteBuf bounceBuffer;
  private @Nullable Lease lease;
  private @Nullable Exposure sink;
  private long localAddress;
  private int localKey;
  private int length;
  private int index;
  private int capacity;
  private long memoryAddress;

  ReadIntoOperation(OneSidedOperations oneSided, RemoteMemory at, ByteBuf into) {
    super(oneSided, at);
    this.into = into;
  }

  @Override
  OneSidedOperation<Void> copy() {
    return new ReadIntoOperation(oneSided, at, into);
  }

  @Override
  boolean startsAtOnce() {
    return true;
  }

  @Override
  public String operation() {
    return "read";
  }

  @Override
  void hold() {
    into.retain();
    held = true;
  }

  @Override
  void prepare() {
    length = RemoteChecks.readable(oneSided.peer(), at);
    if (into.isReadOnly() || into.writableBytes() < length) {
      throw new LocalAccessException(
          operation(),
          oneSided.peer(),
          null,
          into.isReadOnly()
              ? "the buffer is read-only"
              : "writable bytes: " + into.writableBytes() + " (expected: >= " + length + ")",
          null);
    }
    index = into.writerIndex();
    if (length > 0) {
      locate();
    }
  }

  private void locate() {
    LoopResources resources = oneSided.resources();
    Location where = resources.location();
    int leaseFrom = canGrow(into) ? Integer.MAX_VALUE : 0;
    if (!isComposite(into) && resources.memory().reach(into, index, length, leaseFrom, where)) {
      lease = where.takeLease();
      if (lease != null) {
        capacity = into.capacity();
        memoryAddress = memoryAddress();
      }
    } else {
      ByteBuf buffer = resources.memory().allocator().directBuffer(length, length);
      bounceBuffer = buffer;
      resources.locate(buffer, 0, length);
    }
    localAddress = where.address();
    localKey = where.lkey();
    ByteBuf copied = bounceBuffer;
    sink =
        copied == null
            ? resources.memory().readSink(into, index, length)
            : resources.memory().readSink(copied, 0, length);
  }

  /**
   * Returns whether a buffer may release memory, that of a component, before it is released itself.
   */
  private static boolean isComposite(ByteBuf buffer) {
    for (ByteBuf at = buffer; at != null; at = at.unwrap()) {
      if (at instanceof CompositeByteBuf) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a foreign buffer may free its memory, for others to use, before it is released.
   */
  private static boolean canGrow(ByteBuf buffer) {
    for (ByteBuf at = buffer; at != null; at = at.unwrap()) {
      if (at.maxCapacity() > at.capacity()) {
        return true;
      }
    }
    return false;
  }

  @Override
  int length() {
    return length;
  }

  @Override
  long localAddress() {
    Exposure own = sink;
    return own == null ? localAddress : own.address();
  }

  @Override
  int localKey() {
    Exposure own = sink;
    return own == null ? localKey : own.lkey();
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    request.read(at.address() + offset, at.key());
  }

  @Override
  void complete(CoreSubscriber<? super Void> to) {
    try {
      if (!isInPlace()) {
        end(
            new LocalAccessException(
                operation(),
                oneSided.peer(),
                null,
                "the buffer changed while it was read into: writer index "
                    + into.writerIndex()
                    + ", capacity "
                    + into.capacity()
                    + " (expected: writer index "
                    + index
                    + " and the same memory until the read ends)",
                null));
        return;
      }
      ByteBuf buffer = bounceBuffer;
      if (buffer != null) {
        into.setBytes(index, buffer, 0, length);
      }
      into.writerIndex(index + length);
    } catch (Throwable e) {
      // The buffer is the user's, and may throw anything.
      end(unusable(e));
      return;
    }
    releaseGuarded();
    to.onComplete();
  }

  /** Returns whether the bytes that were read are still at the writer index of the buffer. */
  private boolean isInPlace() {
    if (into.writerIndex() != index || into.writableBytes() < length) {
      return false;
    }
    if (bounceBuffer != null || length == 0) {
      return true;
    }
    if (lease != null) {
      return into.capacity() == capacity && memoryAddress() == memoryAddress;
    }
    LoopResources resources = oneSided.resources();
    Location where = resources.location();
    return resources.memory().locate(into, index, length, where)
        && where.address() == localAddress
        && where.lkey() == localKey;
  }

  private long memoryAddress() {
    return into.hasMemoryAddress() ? into.memoryAddress() : 0;
  }

  @Override
  void release() {
    try {
      closeSink();
    } finally {
      try {
        releaseMemory();
      } finally {
        if (held) {
          held = false;
          ReferenceCountUtil.safeRelease(into);
        }
      }
    }
  }

  private void closeSink() {
    Exposure own = sink;
    if (own != null) {
      sink = null;
      own.close();
    }
  }

  /** Releases the bounce buffer or the lease; there is one of them at most. */
  private void releaseMemory() {
    ByteBuf buffer = bounceBuffer;
    if (buffer != null) {
      bounceBuffer = null;
      buffer.release();
    }
    Lease leased = lease;
    if (leased != null) {
      lease = null;
      leased.release();
    }
  }
}
