// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.verbena.LocalAccessException;
import io.verbena.RdmaException;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Lease;
import io.verbena.core.memory.Location;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.send.FrameWaiter;
import io.verbena.reactor.send.Notice;
import io.verbena.verbs.Capability;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A write, and perhaps a notice of it to the peer. Its data is taken over by the subscription. */
final class WriteOperation extends Operation<Void> implements Notice {
  /** The way in which the peer is notified. */
  private enum Telling {
    /** Not at all. */
    NONE,
    /** With the last WRITE. */
    IMMEDIATE,
    /** In a frame behind the last WRITE, as the device has no immediate data. */
    FRAME
  }

  private final Telling how;
  private final int immediate;
  private @Nullable ByteBuf data;
  private @Nullable Lease lease;
  private @Nullable FrameWaiter nextWaiter;
  private long localAddress;
  private int localKey;
  private int length;
  private boolean promised;
  private boolean telling;
  private boolean told;

  private WriteOperation(
      OneSidedOperations room,
      @Nullable ByteBuf data,
      RemoteMemory at,
      Telling how,
      int immediate) {
    super(room, at);
    this.data = data;
    this.how = how;
    this.immediate = immediate;
  }

  static WriteOperation plain(OneSidedOperations room, ByteBuf data, RemoteMemory to) {
    return new WriteOperation(room, data, to, Telling.NONE, 0);
  }

  static WriteOperation withImmediate(
      OneSidedOperations room, ByteBuf data, RemoteMemory to, int immediate) {
    boolean able =
        room.loop().device().attributes().supports(Capability.IMMEDIATE_DATA)
            && room.sends().supports(Capability.IMMEDIATE_DATA);
    return new WriteOperation(room, data, to, able ? Telling.IMMEDIATE : Telling.FRAME, immediate);
  }

  /** A second subscription finds the data gone, and fails. */
  @Override
  Operation<Void> copy() {
    return new WriteOperation(room, null, at, how, immediate);
  }

  @Override
  boolean startsAtOnce() {
    return true;
  }

  @Override
  public String operation() {
    return how == Telling.NONE ? "write" : "writeWithImmediate";
  }

  @Override
  OperationQueue waitingQueue() {
    return how == Telling.NONE ? room.operations() : room.notifications();
  }

  @Override
  void prepare() {
    ByteBuf buffer = data;
    if (buffer == null) {
      throw new LocalAccessException(
          operation(),
          room.peer(),
          null,
          "the data was taken over by an earlier subscription",
          new IllegalReferenceCountException(0));
    }
    if (buffer.refCnt() == 0) {
      data = null;
      throw new LocalAccessException(
          operation(),
          room.peer(),
          null,
          "the data was released (expected: only the operation releases it)",
          new IllegalReferenceCountException(0));
    }
    length = buffer.readableBytes();
    RemoteChecks.writable(room.peer(), operation(), at, length);
    if (length > 0) {
      locate(buffer);
    }
  }

  private void locate(ByteBuf buffer) {
    LoopResources resources = room.resources();
    int index = buffer.readerIndex();
    Location where = resources.location();
    if (resources.memory().reachToSend(buffer, index, length, RemoteChecks.COPY_BELOW, where)) {
      lease = where.takeLease();
    } else {
      ByteBuf copy = resources.memory().copy(buffer, index, length);
      data = copy;
      buffer.release();
      resources.locate(copy, 0, length);
    }
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
  boolean mayPost(boolean last) {
    if (!room.slots().mayPost()) {
      return false;
    }
    return switch (how) {
      case NONE -> true;
      case IMMEDIATE -> !last || room.sender().mayNotify();
      case FRAME -> promised || room.sender().mayPromiseNotice();
    };
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    if (how == Telling.IMMEDIATE && offset + count == length) {
      request.writeWithImmediate(at.address() + offset, at.key(), immediate);
    } else {
      request.write(at.address() + offset, at.key());
    }
  }

  /** Uses up credits now, and not before: what the HCA refuses costs none. */
  @Override
  void wasPosted(boolean last) {
    if (how == Telling.IMMEDIATE && last) {
      room.sender().notified();
    } else if (how == Telling.FRAME && !promised) {
      promised = true;
      room.sender().promiseNotice();
    }
  }

  @Override
  boolean isFinished() {
    if (how != Telling.FRAME || told) {
      return true;
    }
    telling = true;
    room.sender().notice(this);
    return false;
  }

  @Override
  boolean isTelling() {
    return telling && !told;
  }

  @Override
  public int immediate() {
    return immediate;
  }

  @Override
  public int noticeLength() {
    return length;
  }

  @Override
  public void frameArrived() {
    told = true;
    finish();
  }

  @Override
  public void frameLost(RdmaException error) {
    told = true;
    abort(error);
  }

  @Override
  void complete(CoreSubscriber<? super Void> to) {
    releaseGuarded();
    to.onComplete();
  }

  @Override
  void release() {
    if (promised && !telling) {
      promised = false;
      room.sender().takeBackNotice();
    }
    try {
      releaseLease();
    } finally {
      releaseData();
    }
  }

  private void releaseLease() {
    Lease leased = lease;
    if (leased != null) {
      lease = null;
      leased.release();
    }
  }

  private void releaseData() {
    ByteBuf buffer = data;
    if (buffer != null) {
      data = null;
      // Somebody else may have released it: that is this operation's failure alone.
      ReferenceCountUtil.safeRelease(buffer);
    }
  }

  @Override
  public @Nullable FrameWaiter nextWaiter() {
    return nextWaiter;
  }

  @Override
  public void nextWaiter(@Nullable FrameWaiter next) {
    nextWaiter = next;
  }
}
