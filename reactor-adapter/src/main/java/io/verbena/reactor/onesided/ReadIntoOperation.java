// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.LocalAccessException;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Lease;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A read into a buffer of the caller, which is held meanwhile. */
final class ReadIntoOperation extends Operation<Void> {
  private final ByteBuf into;
  private boolean held;
  private @Nullable ByteBuf detour;
  private @Nullable Lease lease;
  private long localAddress;
  private int localKey;
  private int length;

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
    if (length > 0) {
      locate();
    }
  }

  private void locate() {
    LoopResources resources = room.resources();
    int index = into.writerIndex();
    Location where = resources.location();
    if (resources.memory().locate(into, index, length, where)) {
      localAddress = where.address();
      localKey = where.lkey();
      return;
    }
    Lease leased = resources.memory().lease(into, index, length);
    if (leased != null) {
      lease = leased;
      localAddress = leased.address();
      localKey = leased.lkey();
      return;
    }
    ByteBuf buffer = resources.memory().allocator().directBuffer(length, length);
    detour = buffer;
    resources.locate(buffer, 0, length);
    localAddress = where.address();
    localKey = where.lkey();
  }

  @Override
  int length() {
    return length;
  }

  @Override
  long localAddress() {
    return localAddress;
  }

  @Override
  int localKey() {
    return localKey;
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    request.read(at.address() + offset, at.key());
  }

  @Override
  void complete(CoreSubscriber<? super Void> to) {
    ByteBuf buffer = detour;
    if (buffer != null) {
      into.setBytes(into.writerIndex(), buffer, 0, length);
    }
    into.writerIndex(into.writerIndex() + length);
    release();
    to.onComplete();
  }

  @Override
  void release() {
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
    if (held) {
      held = false;
      into.release();
    }
  }
}
