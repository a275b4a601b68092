package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.Lease;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a stream: what is posted, the memory that the HCA reads from until then, and
 * the peer's credits. A credit is a receive that the peer has posted; each message takes one. The
 * last two are kept for messages that must not wait for the peer to read: one that returns credits
 * and the one that ends the stream. On the event loop's thread only.
 */
final class Outlet {
  /** Credits that bytes may not use. */
  static final int RESERVED = 2;

  private final QueuePair queuePair;
  private final long prefix;
  private final int depth;
  private final int mask;
  private final int signalMask;
  private final @Nullable ByteBuf[] held;
  private final @Nullable Lease[] leases;
  private final SendWorkRequest request = new SendWorkRequest();
  private int heldCount;
  private int posted;
  private int completed;
  private int credits;
  private int piece;
  private boolean ended;

  /**
   * @param depth messages that may be posted at once
   */
  Outlet(QueuePair queuePair, long prefix, int depth) {
    this.queuePair = queuePair;
    this.prefix = prefix;
    this.depth = depth;
    int slots = Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
    mask = slots - 1;
    signalMask = Math.max(1, Integer.highestOneBit(depth) >> 2) - 1;
    held = new @Nullable ByteBuf[slots];
    leases = new @Nullable Lease[slots];
  }

  /** The peer has answered: what it takes at once, and how often. */
  void open(int peerPiece, int peerReceives) {
    piece = peerPiece;
    credits += peerReceives;
  }

  /** The longest message, in bytes. */
  int piece() {
    return piece;
  }

  /**
   * The peer returns credits.
   *
   * @return whether it may: it never had more than {@link Hello#MOST_RECEIVES}
   */
  boolean grant(int count) {
    credits += count;
    return credits <= Hello.MOST_RECEIVES;
  }

  /** Whether bytes can be posted now. */
  boolean canSend() {
    return credits > RESERVED && posted - completed < depth - RESERVED && !ended;
  }

  /** Whether nothing is posted that has not completed, or is known to. */
  boolean isIdle() {
    return posted == completed;
  }

  /**
   * Posts bytes that the HCA reads where they are.
   *
   * @param buffer is released when that is done
   * @param lease likewise, if there is one
   */
  void send(long address, int length, int lkey, ByteBuf buffer, @Nullable Lease lease, int owed) {
    request.sendWithImmediate(Signal.of(owed, false)).buffer(address, length, lkey).signaled();
    int slot = posted & mask;
    held[slot] = buffer;
    leases[slot] = lease;
    heldCount++;
    post();
  }

  /** Posts bytes that the request takes along. */
  void sendInline(ByteBuffer data, int owed) {
    request.sendWithImmediate(Signal.of(owed, false)).inline(data);
    if ((posted & signalMask) == signalMask) {
      request.signaled();
    }
    post();
  }

  /** Whether a message that only returns credits can be posted. */
  boolean canReturn() {
    return credits > (ended ? 0 : RESERVED - 1) && posted - completed < depth - 1;
  }

  /** Posts a message that only returns credits. */
  void returnCredits(int owed) {
    request.sendWithImmediate(Signal.of(owed, ended)).signaled();
    post();
  }

  /** Ends the stream behind all that is posted. Idempotent. */
  void end(int owed) {
    if (!ended) {
      ended = true;
      request.sendWithImmediate(Signal.of(owed, true)).signaled();
      post();
    }
  }

  /** Whether the stream was ended. */
  boolean hasEnded() {
    return ended;
  }

  private void post() {
    queuePair.postSend(request.id(WorkRequestId.send(prefix, posted)));
    posted++;
    credits--;
  }

  /** This message and all before it are done. */
  void completed(int sequence) {
    while (completed - sequence <= 0 && completed != posted) {
      free(completed & mask);
      completed++;
    }
  }

  private void free(int slot) {
    Lease lease = leases[slot];
    if (lease != null) {
      leases[slot] = null;
      lease.release();
    }
    ByteBuf buffer = held[slot];
    if (buffer != null) {
      held[slot] = null;
      heldCount--;
      buffer.release();
    }
  }

  /** Whether a completion will give memory back. */
  boolean holdsMemory() {
    return heldCount > 0;
  }

  /** Releases all memory, once the queue pair is closed. Idempotent. */
  void release() {
    for (int slot = 0; slot < held.length; slot++) {
      free(slot);
    }
    completed = posted;
  }
}
