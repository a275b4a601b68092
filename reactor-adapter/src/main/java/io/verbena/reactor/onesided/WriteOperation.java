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
import io.verbena.reactor.send.WriteNotice;
import io.verbena.verbs.Capability;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * A write, with an optional notice of it to the peer. The subscription takes ownership of the data.
 */
final class WriteOperation extends OneSidedOperation<Void> implements WriteNotice {
  /** The way in which the peer is notified. */
  private enum Notification {
    /** Not at all. */
    NONE,
    /** With the last WRITE. */
    IMMEDIATE,
    /** In a frame behind the last WRITE, as the device has no immediate data. */
    FRAME
  }

  private final Notification notification;
  private final int immediate;
  private @Nullable ByteBuf data;
  private @Nullable Lease lease;
  private @Nullable FrameWaiter nextWaiter;
  private long localAddress;
  private int localKey;
  private int length;
  private boolean promised;
  private boolean emitting;
  private boolean emitted;

  private WriteOperation(
      OneSidedOperations oneSided,
      @Nullable ByteBuf data,
      RemoteMemory at,
      Notification notification,
      int immediate) {
    super(oneSided, at);
    this.data = data;
    this.notification = notification;
    this.immediate = immediate;
  }

  static WriteOperation plain(OneSidedOperations oneSided, ByteBuf data, RemoteMemory to) {
    return new WriteOperation(oneSided, data, to, Notification.NONE, 0);
  }

  static WriteOperation withImmediate(
      OneSidedOperations oneSided, ByteBuf data, RemoteMemory to, int immediate) {
    boolean able =
        oneSided.loop().device().attributes().supports(Capability.IMMEDIATE_DATA)
            && oneSided.sends().supports(Capability.IMMEDIATE_DATA);
    return new WriteOperation(
        oneSided, data, to, able ? Notification.IMMEDIATE : Notification.FRAME, immediate);
  }

  /**
   * Returns an operation without data, which fails, as the first subscription has taken the data
   * over.
   */
  @Override
  OneSidedOperation<Void> copy() {
    return new WriteOperation(oneSided, null, at, notification, immediate);
  }

  @Override
  boolean startsAtOnce() {
    return true;
  }

  @Override
  public String operation() {
    return notification == Notification.NONE ? "write" : "writeWithImmediate";
  }

  @Override
  OperationQueue waitingQueue() {
    return notification == Notification.NONE ? oneSided.operations() : oneSided.notifications();
  }

  @Override
  void prepare() {
    ByteBuf buffer = data;
    if (buffer == null) {
      throw new LocalAccessException(
          operation(),
          oneSided.peer(),
          null,
          "the data was taken over by an earlier subscription",
          new IllegalReferenceCountException(0));
    }
    if (buffer.refCnt() == 0) {
      data = null;
      throw new LocalAccessException(
          operation(),
          oneSided.peer(),
          null,
          "the data was released (expected: only the operation releases it)",
          new IllegalReferenceCountException(0));
    }
    length = buffer.readableBytes();
    RemoteChecks.writable(oneSided.peer(), operation(), at, length);
    if (length > 0) {
      locate(buffer);
    }
  }

  private void locate(ByteBuf buffer) {
    LoopResources resources = oneSided.resources();
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
    if (!oneSided.slots().mayPost()) {
      return false;
    }
    return switch (notification) {
      case NONE -> true;
      case IMMEDIATE -> !last || oneSided.sender().mayNotify();
      case FRAME -> promised || oneSided.sender().mayPromiseNotice();
    };
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    if (notification == Notification.IMMEDIATE && offset + count == length) {
      request.writeWithImmediate(at.address() + offset, at.key(), immediate);
    } else {
      request.write(at.address() + offset, at.key());
    }
  }

  /** Uses up credits only now: a refused request costs none. */
  @Override
  void wasPosted(boolean last) {
    if (notification == Notification.IMMEDIATE && last) {
      oneSided.sender().notified();
    } else if (notification == Notification.FRAME && !promised) {
      promised = true;
      oneSided.sender().promiseNotice();
    }
  }

  @Override
  boolean isFinished() {
    if (notification != Notification.FRAME || emitted) {
      return true;
    }
    emitting = true;
    oneSided.sender().notice(this);
    return false;
  }

  @Override
  boolean isEmitting() {
    return emitting && !emitted;
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
    emitted = true;
    finish();
  }

  @Override
  public void frameLost(RdmaException error) {
    emitted = true;
    abort(error);
  }

  @Override
  void complete(CoreSubscriber<? super Void> to) {
    releaseGuarded();
    to.onComplete();
  }

  @Override
  void release() {
    if (promised && !emitting) {
      promised = false;
      oneSided.sender().takeBackNotice();
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
      // Other code may have released it: only this operation fails for that.
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
