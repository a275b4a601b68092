// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.verbena.RdmaException;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * The receives of a stream and what has arrived in them. Each receive is in one place at a time:
 *
 * <pre>{@code
 * posted --arrived--> waiting --read to its end--> posted again, a credit owed
 * }</pre>
 *
 * <p>The peer never has more credits than there are receives posted. A stream starts with few and
 * short receives, as most connections are idle most of the time: it gets more when the peer fills
 * half of them, and long ones in their place once a message fills a short one, until many in a row
 * would have found room in short ones. On the event loop's thread only.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
final class ReceiveBuffers {
  /** Bytes from which a receive's buffer itself goes to the pipeline; below, copying costs less. */
  private static final int LEAST_HANDED_OUT = 1024;

  private static final int SHORT = 2048;

  /**
   * Bytes up to which receives are added for what nobody reads, as a socket has a buffer for it.
   */
  private static final int UNREAD = 64 << 10;

  /** Messages in a row that need no long receive, after which there are short ones again. */
  private static final int MANY = 1024;

  private final RegisteredMemory memory;
  private final QueuePair queuePair;
  private final long prefix;
  private final int piece;
  private final int shortPiece;

  /** Bytes behind a piece, for what is no part of the stream. */
  private final int trailer;

  private final @Nullable ByteBuf[] buffers;
  private final int[] starts;
  private final int[] ends;
  private final int[] waiting;
  private final ReceiveWorkRequest request = new ReceiveWorkRequest();
  private final Location location = new Location();
  private int receives;
  private int head;
  private int waitingCount;
  private int unread;
  private int owed;
  private boolean owedAreLong;
  private boolean wantsLong;
  private int shortInARow;
  private boolean ended;
  private boolean discarding;

  /**
   * Posts the first receives.
   *
   * @param trailer bytes behind those of each message
   * @param first the number of receives to begin with
   * @param most the most receives
   * @throws RdmaException if there is no memory for the first ones, or the HCA does not register it
   */
  ReceiveBuffers(
      RegisteredMemory memory,
      QueuePair queuePair,
      long prefix,
      int piece,
      int trailer,
      int first,
      int most) {
    this.memory = memory;
    this.queuePair = queuePair;
    this.prefix = prefix;
    this.piece = piece;
    this.trailer = trailer;
    shortPiece = Math.min(SHORT, piece);
    buffers = new @Nullable ByteBuf[most];
    starts = new int[most];
    ends = new int[most];
    waiting = new int[most];
    try {
      add(first);
    } catch (RdmaException e) {
      release();
      throw e;
    }
  }

  private void add(int count) {
    for (int i = 0; i < count; i++) {
      buffers[receives] = allocate();
      post(receives);
      receives++;
    }
  }

  private ByteBuf allocate() {
    int length = (wantsLong ? piece : shortPiece) + trailer;
    return memory.allocator().directBuffer(length, length);
  }

  private void post(int slot) {
    ByteBuf buffer = buffers[slot];
    int length = buffer == null ? 0 : buffer.capacity();
    if (buffer == null || !memory.locate(buffer, 0, length, location)) {
      throw new IllegalStateException("receive " + slot + " has no registered memory");
    }
    queuePair.postReceive(
        request
            .id(WorkRequestId.receive(prefix, slot))
            .buffer(location.address(), length, location.lkey()));
  }

  /** Returns the number of receives. */
  int receives() {
    return receives;
  }

  /** Returns whether a receive is posted, unless it was flushed. */
  boolean isAnyPosted() {
    return waitingCount < receives;
  }

  /** Returns the longest message that a short receive takes, in bytes. */
  int shortPiece() {
    return shortPiece;
  }

  /** Returns the signal behind a message of this length, which has arrived in this receive. */
  int trailer(int slot, int length) {
    ByteBuf buffer = buffers[slot];
    return buffer == null ? 0 : SignalTrailers.read(buffer, length);
  }

  /** Handles a message that has arrived in this receive, of so many bytes of the stream. */
  void arrived(int slot, int length, boolean end) {
    ended |= end;
    learn(slot, length);
    if (length == 0 || discarding) {
      again(slot);
      return;
    }
    starts[slot] = 0;
    ends[slot] = length;
    int at = head + waitingCount;
    waiting[at < waiting.length ? at : at - waiting.length] = slot;
    waitingCount++;
    unread += length;
    if (unread < UNREAD) {
      growIfHalfFull();
    }
  }

  private void learn(int slot, int length) {
    if (length > shortPiece || length == lengthOf(slot)) {
      wantsLong = true;
      shortInARow = 0;
    } else if (wantsLong && ++shortInARow >= MANY) {
      wantsLong = false;
      shortInARow = 0;
    }
  }

  private int lengthOf(int slot) {
    ByteBuf buffer = buffers[slot];
    return buffer == null ? 0 : buffer.capacity() - trailer;
  }

  private void again(int slot) {
    if (lengthOf(slot) != (wantsLong ? piece : shortPiece)) {
      replace(slot);
    }
    post(slot);
    owe(slot);
  }

  private void replace(int slot) {
    try {
      ByteBuf fresh = allocate();
      ByteBuf old = buffers[slot];
      buffers[slot] = fresh;
      if (old != null) {
        old.release();
      }
    } catch (RdmaException e) {
      // There is no memory for that now: the receive stays as it is.
      return;
    }
  }

  /**
   * Adds a credit to those that are owed. Credits are returned by one kind at a time: as a long
   * receive takes a short message too, a long one among short ones counts as short.
   */
  private void owe(int slot) {
    boolean isLong = lengthOf(slot) == piece;
    owedAreLong = owed == 0 ? isLong : owedAreLong && isLong;
    owed++;
  }

  /** Returns whether there are bytes to read, or the end. */
  boolean isReadable() {
    return waitingCount > 0 || ended;
  }

  /** Returns whether all was read and the peer sends no more. */
  boolean isAtEnd() {
    return waitingCount == 0 && ended;
  }

  /** Returns whether the peer has ended its stream. */
  boolean hasEnded() {
    return ended;
  }

  /**
   * Reads what is there: a large message in the very buffer that it arrived in, small ones together
   * in a buffer of the channel's allocator.
   *
   * @param copies whether large ones are copied, too
   * @return a buffer that the caller releases; null if nothing is there
   */
  @Nullable ByteBuf read(
      RecvByteBufAllocator.Handle handle, ByteBufAllocator allocator, boolean copies) {
    if (waitingCount == 0) {
      return null;
    }
    growIfHalfFull();
    int slot = waiting[head];
    int length = ends[slot] - starts[slot];
    if (!copies && length >= LEAST_HANDED_OUT && handle.guess() >= LEAST_HANDED_OUT) {
      ByteBuf whole = handOut(slot);
      if (whole != null) {
        handle.attemptedBytesRead(length);
        handle.lastBytesRead(length);
        return whole;
      }
    }
    return copy(allocate(handle, allocator), handle);
  }

  /** What is copied needs no registered memory where there is none left. */
  private static ByteBuf allocate(RecvByteBufAllocator.Handle handle, ByteBufAllocator allocator) {
    try {
      return handle.allocate(allocator);
    } catch (RdmaException e) {
      return handle.allocate(ByteBufAllocator.DEFAULT);
    }
  }

  /**
   * Exchanges the receive's buffer for another one; returns null if there is no memory for that.
   */
  private @Nullable ByteBuf handOut(int slot) {
    ByteBuf fresh;
    try {
      fresh = allocate();
    } catch (RdmaException e) {
      return null;
    }
    ByteBuf full = buffers[slot];
    buffers[slot] = fresh;
    unread -= ends[slot] - starts[slot];
    next();
    try {
      again(slot);
    } catch (RuntimeException e) {
      if (full != null) {
        full.release();
      }
      throw e;
    }
    return full == null ? null : full.setIndex(starts[slot], ends[slot]);
  }

  private ByteBuf copy(ByteBuf into, RecvByteBufAllocator.Handle handle) {
    handle.attemptedBytesRead(into.writableBytes());
    try {
      copy(into);
    } catch (RuntimeException e) {
      into.release();
      throw e;
    }
    handle.lastBytesRead(into.readableBytes());
    return into;
  }

  private void copy(ByteBuf into) {
    while (waitingCount > 0 && into.isWritable()) {
      int slot = waiting[head];
      int start = starts[slot];
      int length = Math.min(ends[slot] - start, into.writableBytes());
      ByteBuf from = buffers[slot];
      if (from != null) {
        into.writeBytes(from, start, length);
      }
      starts[slot] = start + length;
      unread -= length;
      if (starts[slot] == ends[slot]) {
        next();
        again(slot);
      }
    }
  }

  private void next() {
    head = head + 1 < waiting.length ? head + 1 : 0;
    waitingCount--;
  }

  /** A peer that fills half of all receives before they are read is held up by their number. */
  private void growIfHalfFull() {
    if (waitingCount * 2 >= receives && receives < buffers.length) {
      int more = Math.min(receives, buffers.length - receives);
      int before = receives;
      try {
        add(more);
      } catch (RdmaException e) {
        // As many as there is memory for: the stream is slower, and whole.
      }
      for (int slot = before; slot < receives; slot++) {
        owe(slot);
      }
    }
  }

  /** Discards what waits, and what comes from now on. */
  void discard() {
    discarding = true;
    unread = 0;
    while (waitingCount > 0) {
      int slot = waiting[head];
      next();
      again(slot);
    }
  }

  /** Returns whether so many credits are owed that they go back without bytes to send. */
  boolean owesMuch() {
    return owed * 2 >= receives;
  }

  /** Takes the credits that a message returns to the peer, as its {@link Signal}. */
  int takeOwed() {
    int credits = Math.min(owed, Signal.MOST_CREDITS);
    owed -= credits;
    return Signal.of(credits, owedAreLong);
  }

  /** Releases the memory, once the queue pair is closed. Idempotent. */
  void release() {
    waitingCount = 0;
    for (int i = 0; i < buffers.length; i++) {
      ByteBuf buffer = buffers[i];
      buffers[i] = null;
      if (buffer != null) {
        buffer.release();
      }
    }
  }
}
