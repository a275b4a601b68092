// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.verbena.RdmaException;
import io.verbena.core.receive.ReceiveFrames;
import io.verbena.core.receive.Receives;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that have arrived for a stream, and the credits of its peer. The peer has a credit for
 * each promised receive, and gets one for each that is owed:
 *
 * <pre>{@code
 *            arrives                 was read               is announced
 * promised ----------> unread --------------------> owed ----------------> promised
 *    |                                  |
 *    +--the peer does not use it--------+--others wait for receives------> given back
 * }</pre>
 *
 * <p>A stream starts with few receives, as most connections are idle most of the time; it gets more
 * when the peer fills half of them. The frame of a receive is returned when it was read: the first
 * one of a duty cycle is {@linkplain #giveBackFirst returned later}, so that an answer does not
 * wait for the receive to be posted. At the end of the duty cycle unread bytes are moved to memory
 * of their own, so that a channel that does not read keeps no receive from the others. On the event
 * loop's thread only.
 */
@SuppressWarnings("deprecation") // of RecvByteBufAllocator.Handle, which the pipeline still gives
final class StreamReceiveQueue {
  /** The least bytes for which a frame itself may go to the pipeline; copying fewer costs less. */
  private static final int LEAST_HANDED_OUT = 1024;

  /**
   * A frame that is filled to less than 1/8 is copied: handed out, it would keep its unused rest.
   */
  private static final int LEAST_FILLED = 8;

  /**
   * The number of unread bytes below which receives are added as messages arrive, in place of a
   * socket's receive buffer.
   */
  private static final int UNREAD = 64 << 10;

  private final Receives receives;
  private final ReceiveFrames frames;
  private final int first;
  private final int most;
  private final int leastHandedOut;

  /** Unread bytes of earlier duty cycles, in memory of their own. */
  private final ArrayDeque<ByteBuf> kept = new ArrayDeque<>(0);

  /** Messages that have arrived since, in the frames of their receives. */
  private final ArrayDeque<ByteBuf> arrived = new ArrayDeque<>(0);

  /** The frame of the first message that was read in this duty cycle, until it is returned. */
  private @Nullable ByteBuf firstRead;

  /** The number of promised, unread and owed receives, and that of {@link #firstRead}. */
  private int share;

  private int promised;
  private int owed;
  private int unread;
  private boolean ended;
  private boolean discarding;

  /**
   * @param receives released with this object
   * @param frames replace those that go to the pipeline
   * @param first how many receives the peer is granted at first, and at all times
   * @param most the most receives that the peer may be granted
   */
  StreamReceiveQueue(Receives receives, ReceiveFrames frames, int first, int most) {
    this.receives = receives;
    this.frames = frames;
    this.first = first;
    this.most = most;
    leastHandedOut = Math.max(LEAST_HANDED_OUT, frames.capacity() / LEAST_FILLED);
    share = first;
    promised = first;
  }

  /** Returns how many receives the peer is granted at all times. */
  int first() {
    return first;
  }

  /**
   * Handles a message that has arrived.
   *
   * @param frame taken over
   * @param length how many bytes of the stream it has
   * @param end whether the stream ends after it
   * @return false if the peer had no credit for it
   */
  boolean arrived(ByteBuf frame, int length, boolean end) {
    if (promised == 0) {
      receives.giveBack(frame);
      return false;
    }
    promised--;
    ended |= end;
    if (length == 0 || discarding) {
      wasRead();
      receives.giveBack(frame);
      return true;
    }
    arrived.add(frame.setIndex(0, length));
    unread += length;
    if (unread < UNREAD) {
      growIfHalfFull();
    }
    return true;
  }

  /** Returns a frame without bytes for the stream. */
  void drop(ByteBuf frame) {
    receives.giveBack(frame);
  }

  /** Stops posting receives, because the queue pair is in its error state. */
  void halt() {
    receives.halt();
  }

  /**
   * Takes back credits that the peer does not use.
   *
   * @return false if the peer does not have so many, or must keep them
   */
  boolean givenBack(int count) {
    if (count < 1 || count > Math.min(share - first, promised)) {
      return false;
    }
    promised -= count;
    share -= count;
    receives.shrink(count);
    return true;
  }

  /**
   * Owes the peer a credit for a message that was read, unless other streams wait for receives and
   * this one has more than its part.
   */
  private void wasRead() {
    if (share > first && receives.hasMoreThanItsPart()) {
      share--;
      receives.shrink(1);
    } else {
      owed++;
    }
  }

  /** Returns whether there are bytes to read, or the end. */
  boolean isReadable() {
    return waiting() > 0 || ended;
  }

  /** Returns whether there are bytes to read. */
  boolean hasUnread() {
    return waiting() > 0;
  }

  /** Returns whether all bytes were read and the peer has ended its stream. */
  boolean isAtEnd() {
    return waiting() == 0 && ended;
  }

  /** Returns whether the peer has ended its stream. */
  boolean hasEnded() {
    return ended;
  }

  private int waiting() {
    return kept.size() + arrived.size();
  }

  /**
   * Reads bytes: a large message in the buffer that it arrived in, or small ones together in a
   * buffer of the channel's allocator.
   *
   * @param copies whether large messages are copied, too
   * @return a buffer that the caller releases; null if there are no bytes
   */
  @Nullable ByteBuf read(
      RecvByteBufAllocator.Handle handle, ByteBufAllocator allocator, boolean copies) {
    ByteBuf oldest = kept.isEmpty() ? arrived.peek() : kept.peek();
    if (oldest == null) {
      return null;
    }
    growIfHalfFull();
    int length = oldest.readableBytes();
    if (!copies && length >= leastHandedOut && handle.guess() >= LEAST_HANDED_OUT && handOut()) {
      handle.attemptedBytesRead(length);
      handle.lastBytesRead(length);
      return oldest;
    }
    return copy(allocate(handle, allocator), handle);
  }

  /** Allocates a buffer to copy into; not of registered memory if none is left. */
  private static ByteBuf allocate(RecvByteBufAllocator.Handle handle, ByteBufAllocator allocator) {
    try {
      return handle.allocate(allocator);
    } catch (RdmaException e) {
      return handle.allocate(ByteBufAllocator.DEFAULT);
    }
  }

  /**
   * Removes the oldest message, and posts another frame in place of its frame. Returns false if
   * there is no memory for another frame.
   */
  private boolean handOut() {
    if (!kept.isEmpty()) {
      unread -= kept.remove().readableBytes();
      wasRead();
      return true;
    }
    ByteBuf fresh = allocate();
    if (fresh == null) {
      return false;
    }
    ByteBuf full = arrived.remove();
    unread -= full.readableBytes();
    wasRead();
    try {
      receives.giveBack(fresh);
    } catch (RuntimeException | Error e) {
      full.release();
      throw e;
    }
    return true;
  }

  private @Nullable ByteBuf allocate() {
    try {
      return frames.allocate();
    } catch (RdmaException e) {
      // The caller copies instead.
      return null;
    }
  }

  private ByteBuf copy(ByteBuf into, RecvByteBufAllocator.Handle handle) {
    try {
      handle.attemptedBytesRead(into.writableBytes());
      while (into.isWritable() && waiting() > 0) {
        copyOldest(into);
      }
      handle.lastBytesRead(into.readableBytes());
      return into;
    } catch (RuntimeException | Error e) {
      into.release();
      throw e;
    }
  }

  private void copyOldest(ByteBuf into) {
    ArrayDeque<ByteBuf> from = kept.isEmpty() ? arrived : kept;
    ByteBuf oldest = from.element();
    int length = Math.min(oldest.readableBytes(), into.writableBytes());
    into.writeBytes(oldest, length);
    unread -= length;
    if (!oldest.isReadable()) {
      boolean own = from == kept;
      from.remove();
      if (own) {
        wasRead();
        oldest.release();
      } else if (firstRead == null) {
        firstRead = oldest;
      } else {
        wasRead();
        receives.giveBack(oldest);
      }
    }
  }

  /**
   * Returns the frame of the first message that was read in this duty cycle, and owes the peer a
   * credit for it: after the writes with which the program answers, before credits are returned
   * without bytes.
   */
  void giveBackFirst() {
    ByteBuf frame = firstRead;
    if (frame != null) {
      firstRead = null;
      wasRead();
      receives.giveBack(frame);
    }
  }

  /**
   * Adds receives if the peer has filled half of them before they are read: it is held up by their
   * number.
   */
  private void growIfHalfFull() {
    if (waiting() * 2 >= share && share < most && !frames.areScarce()) {
      int more = receives.grow(Math.min(share, most - share));
      share += more;
      owed += more;
    }
  }

  /**
   * Moves unread messages out of the receives, at the end of the duty cycle. A message keeps its
   * frame, which another one replaces; it is copied if it is short or memory is scarce.
   */
  void keepUnread() {
    giveBackFirst();
    for (ByteBuf frame = arrived.peek(); frame != null; frame = arrived.peek()) {
      boolean copies = frame.readableBytes() < leastHandedOut || frames.areScarce();
      ByteBuf fresh = copies ? null : allocate();
      // If there is no memory for the copy, the message stays, and no byte is lost.
      kept.add(fresh == null ? copyOf(frame) : frame);
      arrived.remove();
      receives.giveBack(fresh == null ? frame : fresh);
    }
  }

  private static ByteBuf copyOf(ByteBuf frame) {
    int length = frame.readableBytes();
    return UnpooledByteBufAllocator.DEFAULT
        .heapBuffer(length)
        .writeBytes(frame, frame.readerIndex(), length);
  }

  /**
   * Discards unread bytes, and those that arrive from now on.
   *
   * @throws RuntimeException the first exception as receives are returned to the HCA; everything is
   *     discarded all the same
   */
  void discard() {
    discarding = true;
    unread = 0;
    for (ByteBuf own = kept.poll(); own != null; own = kept.poll()) {
      own.release();
      wasRead();
    }
    RuntimeException refused = null;
    if (firstRead != null) {
      arrived.addFirst(firstRead);
      firstRead = null;
    }
    for (ByteBuf frame = arrived.poll(); frame != null; frame = arrived.poll()) {
      wasRead();
      try {
        receives.giveBack(frame);
      } catch (VerbsException | RdmaException e) {
        refused = refused == null ? e : refused;
      }
    }
    if (refused != null) {
      throw refused;
    }
  }

  /** Returns whether so many credits are owed that they are returned without bytes to send. */
  boolean owesMuch() {
    return owed * 2 >= share;
  }

  /**
   * Returns the {@link ControlWord} of the credits that the next message returns to the peer, and
   * no longer owes them.
   */
  int takeOwed() {
    int credits = Math.min(owed, ControlWord.MOST_CREDITS);
    owed -= credits;
    promised += credits;
    return credits;
  }

  /** Releases everything, once the queue pair is closed. Idempotent. */
  void release() {
    receives.halt();
    try {
      discard();
    } finally {
      receives.release();
    }
  }
}
