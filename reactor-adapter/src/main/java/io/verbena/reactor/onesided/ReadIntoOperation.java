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
 * A read into a buffer of the caller, which is held meanwhile. If it gets other memory, by growing
 * for example, the bytes went into the old one, and the read fails. Registered memory that it grew
 * out of is not used again meanwhile; foreign memory is its allocator's business. A composite
 * buffer gets a copy, as it may release a component meanwhile.
 */
final class ReadIntoOperation extends Operation<Void> {
  private final ByteBuf into;
  private boolean held;
  private @Nullable ByteBuf detour;
  private @Nullable Lease lease;
  private @Nullable Exposure sink;
  private long localAddress;
  private int localKey;
  private int length;
  private int index;
  private int capacity;
  private long memoryAddress;

  ReadIntoOperation(OneSidedOperations room, RemoteMemory at, ByteBuf into) {
    super(room, at);
    this.into = into;
  }

  @Override
  Operation<Void> copy() {
    return new ReadIntoOperation(room, at, into);
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
    length = RemoteChecks.readable(room.peer(), at);
    if (into.isReadOnly() || into.writableBytes() < length) {
      throw new LocalAccessException(
          operation(),
          room.peer(),
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
    LoopResources resources = room.resources();
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
      detour = buffer;
      resources.locate(buffer, 0, length);
    }
    localAddress = where.address();
    localKey = where.lkey();
    ByteBuf copied = detour;
    sink =
        copied == null
            ? resources.memory().readSink(into, index, length)
            : resources.memory().readSink(copied, 0, length);
  }

  /** Returns whether a buffer may let go of memory, of one of its components, before it ends. */
  private static boolean isComposite(ByteBuf buffer) {
    for (ByteBuf at = buffer; at != null; at = at.unwrap()) {
      if (at instanceof CompositeByteBuf) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a foreign buffer may free its memory, and so give it to others, before it ends.
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
                room.peer(),
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
      ByteBuf buffer = detour;
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

  /** Returns whether the bytes that were read are those at the writer index still. */
  private boolean isInPlace() {
    if (into.writerIndex() != index || into.writableBytes() < length) {
      return false;
    }
    if (detour != null || length == 0) {
      return true;
    }
    if (lease != null) {
      return into.capacity() == capacity && memoryAddress() == memoryAddress;
    }
    LoopResources resources = room.resources();
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

  /** Releases the detour or the lease: there is but one of them. */
  private void releaseMemory() {
    ByteBuf buffer = detour;
    if (buffer != null) {
      detour = null;
      buffer.release();
    }
    Lease leased = lease;
    if (leased != null) {
      lease = null;
      leased.release();
    }
  }
}
