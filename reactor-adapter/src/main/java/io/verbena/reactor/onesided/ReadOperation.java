// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Location;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A read into registered memory of our own. */
final class ReadOperation extends Operation<ByteBuf> {
  private @Nullable ByteBuf target;
  private long localAddress;
  private int localKey;
  private int length;

  ReadOperation(OneSidedOperations room, RemoteMemory at) {
    super(room, at);
  }

  @Override
  Operation<ByteBuf> copy() {
    return new ReadOperation(room, at);
  }

  @Override
  boolean startsAtOnce() {
    return false;
  }

  @Override
  public String operation() {
    return "read";
  }

  @Override
  void prepare() {
    length = RemoteChecks.readable(room.peer(), at);
    ByteBuf buffer = room.resources().memory().allocator().directBuffer(length, length);
    target = buffer;
    if (length > 0) {
      Location where = room.resources().locate(buffer, 0, length);
      localAddress = where.address();
      localKey = where.lkey();
    }
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
  void complete(CoreSubscriber<? super ByteBuf> to) {
    ByteBuf buffer = target;
    if (buffer != null) {
      target = null;
      succeed(to, buffer.writerIndex(length));
    }
  }

  @Override
  void release() {
    ByteBuf buffer = target;
    if (buffer != null) {
      target = null;
      buffer.release();
    }
  }
}
