// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.Location;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A read into a new registered buffer, which the subscriber gets. */
final class ReadOperation extends OneSidedOperation<ByteBuf> {
  private @Nullable ByteBuf target;
  private @Nullable Exposure sink;
  private long localAddress;
  private int localKey;
  private int length;

  ReadOperation(OneSidedOperations oneSided, RemoteMemory at) {
    super(oneSided, at);
  }

  @Override
  OneSidedOperation<ByteBuf> copy() {
    return new ReadOperation(oneSided, at);
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
    length = RemoteChecks.readable(oneSided.peer(), at);
    ByteBuf buffer = oneSided.resources().memory().allocator().directBuffer(length, length);
    target = buffer;
    if (length > 0) {
      Location where = oneSided.resources().locate(buffer, 0, length);
      localAddress = where.address();
      localKey = where.lkey();
      sink = oneSided.resources().memory().readSink(buffer, 0, length);
    }
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
  void complete(CoreSubscriber<? super ByteBuf> to) {
    try {
      closeSink();
    } catch (Throwable thrown) {
      // The peer's right to the bytes ends with the connection then.
      oneSided.guard().broke(thrown);
    }
    ByteBuf buffer = target;
    if (buffer != null) {
      target = null;
      succeed(to, buffer.writerIndex(length));
    }
  }

  private void closeSink() {
    Exposure own = sink;
    if (own != null) {
      sink = null;
      own.close();
    }
  }

  @Override
  void release() {
    try {
      closeSink();
    } finally {
      ByteBuf buffer = target;
      if (buffer != null) {
        target = null;
        buffer.release();
      }
    }
  }
}
