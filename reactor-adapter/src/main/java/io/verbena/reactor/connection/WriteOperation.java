package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.verbena.LocalAccessException;
import io.verbena.RdmaException;
import io.verbena.RemoteMemory;
import io.verbena.core.memory.Lease;
import io.verbena.core.memory.Location;
import io.verbena.verbs.Capability;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A write, and perhaps a notice of it to the peer. Its data is taken over by the subscription. */
final class WriteOperation extends Operation<Void> implements FrameWaiter {
  /** How the peer is told. */
  private enum Notice {
    /** Not at all. */
    NONE,
    /** With the last WRITE. */
    IMMEDIATE,
    /** In a frame behind the last WRITE, as the device has no immediate data. */
    FRAME
  }

  private final Notice notice;
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
      Connection connection,
      @Nullable ByteBuf data,
      RemoteMemory at,
      Notice notice,
      int immediate) {
    super(connection, at);
    this.data = data;
    this.notice = notice;
    this.immediate = immediate;
  }

  static WriteOperation plain(Connection connection, ByteBuf data, RemoteMemory to) {
    return new WriteOperation(connection, data, to, Notice.NONE, 0);
  }

  static WriteOperation withImmediate(
      Connection connection, ByteBuf data, RemoteMemory to, int immediate) {
    boolean able = connection.loop().device().attributes().supports(Capability.IMMEDIATE_DATA);
    return new WriteOperation(
        connection, data, to, able ? Notice.IMMEDIATE : Notice.FRAME, immediate);
  }

  /** A second subscription finds the data gone, and fails. */
  @Override
  Operation<Void> copy() {
    return new WriteOperation(connection, null, at, notice, immediate);
  }

  @Override
  boolean startsAtOnce() {
    return true;
  }

  @Override
  public String operation() {
    return notice == Notice.NONE ? "write" : "writeWithImmediate";
  }

  @Override
  OperationQueue waitingRoom() {
    return notice == Notice.NONE ? connection.operations() : connection.notifications();
  }

  @Override
  void prepare() {
    ByteBuf buffer = data;
    if (buffer == null) {
      throw new LocalAccessException(
          operation(),
          connection.peer(),
          null,
          "the data was taken over by an earlier subscription",
          new IllegalReferenceCountException(0));
    }
    length = buffer.readableBytes();
    Checks.writable(connection, operation(), at, length);
    if (length > 0) {
      locate(buffer);
    }
  }

  private void locate(ByteBuf buffer) {
    Workbench bench = connection.bench();
    int index = buffer.readerIndex();
    Location where = bench.location();
    if (!bench.memory().locate(buffer, index, length, where)) {
      Lease leased =
          length < Checks.COPY_BELOW ? null : bench.memory().lease(buffer, index, length);
      if (leased != null) {
        lease = leased;
        localAddress = leased.address();
        localKey = leased.lkey();
        return;
      }
      ByteBuf copy = bench.memory().allocator().directBuffer(length, length);
      copy.writeBytes(buffer, index, length);
      data = copy;
      buffer.release();
      bench.locate(copy, 0, length);
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
    if (!connection.mayPost()) {
      return false;
    }
    return switch (notice) {
      case NONE -> true;
      case IMMEDIATE -> !last || connection.outbound().mayNotify();
      case FRAME -> promised || connection.outbound().mayPromiseNotice();
    };
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    if (notice == Notice.IMMEDIATE && offset + count == length) {
      connection.outbound().notified();
      request.writeWithImmediate(at.address() + offset, at.key(), immediate);
      return;
    }
    if (notice == Notice.FRAME && !promised) {
      promised = true;
      connection.outbound().promiseNotice();
    }
    request.write(at.address() + offset, at.key());
  }

  @Override
  boolean isFinished() {
    if (notice != Notice.FRAME || told) {
      return true;
    }
    telling = true;
    connection.outbound().notice(this);
    return false;
  }

  @Override
  boolean isTelling() {
    return telling && !told;
  }

  /** The value for the peer. */
  int immediate() {
    return immediate;
  }

  /** The bytes that were written. */
  int noticeLength() {
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
    release();
    to.onComplete();
  }

  @Override
  void release() {
    Lease leased = lease;
    if (leased != null) {
      lease = null;
      leased.release();
    }
    ByteBuf buffer = data;
    if (buffer != null) {
      data = null;
      buffer.release();
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
