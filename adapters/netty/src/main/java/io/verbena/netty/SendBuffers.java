// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.core.loop.KeepAliveProbe;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.Lease;
import io.verbena.core.memory.Location;
import io.verbena.core.receive.Receives;
import io.verbena.core.stat.OpenQueuePairs;
import io.verbena.core.stat.QueuePairUser;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a stream: what is posted, the memory that the HCA reads from until then, and
 * the peer's credits. A credit is a receive that the peer has posted; each message takes one. The
 * last two are kept for messages that must not wait for the peer to read: one that returns credits
 * and the one that ends the stream. The last places of the queue are kept likewise, with one for a
 * question for a sign of life. On the event loop's thread only, but for what a meter reads.
 *
 * <p>Where the loop links its posts, what {@link #send} posts waits for {@link #postLinked}, or for
 * the next of the others, which post at once.
 */
final class SendBuffers implements ConnectionState, QueuePairUser, LinkedPosts.Poster {
  /** Credits that bytes may not use. */
  static final int RESERVED = Handshake.LEAST_RECEIVES - 1;

  /** Places of the queue that a question may not take: that of the end. */
  private static final int KEPT_FROM_QUESTIONS = 1;

  /** Those that a return of credits may not take: that of a question, too. */
  private static final int KEPT_FROM_CREDITS = 2;

  /** Those that bytes may not take: that of a return of credits, too. */
  private static final int KEPT_FROM_BYTES = 3;

  private final QueuePair queuePair;
  private final Receives receives;
  private final @Nullable LinkedPosts linked;
  private final Consumer<Throwable> onRefusal;
  private final long prefix;
  private final int depth;
  private final int mask;
  private final int signalMask;
  private final @Nullable ByteBuf[] held;
  private final @Nullable Lease[] leases;

  /** The number of bytes of the channel's queue that wait there until the message is sent. */
  private final int[] queued;

  private final PostedBytes waiting = new PostedBytes();
  private final SendWorkRequest single = new SendWorkRequest(/* maxScatterGather= */ 2);

  /** The place of signals on a device without immediate data, else null. */
  private final @Nullable SignalTrailers trailers;

  private final ConnectionMeter meter;
  private int signal;
  private int heldCount;
  private int posted;
  private int completed;
  private int credits;

  /** The credits that the peer promises at all times. */
  private int firstCredits;

  private int piece;
  private boolean ended;
  private boolean released;

  /**
   * @param receives posted ahead of the messages that may give the peer credits for them
   * @param linked of the loop, or null
   * @param onRefusal breaks the stream: what it posted was refused
   * @param depth messages that may be posted at once
   * @param hca makes the meter of the connection
   * @param trailers of {@link #slots}, taken over; null where the device has immediate data
   */
  SendBuffers(
      QueuePair queuePair,
      Receives receives,
      @Nullable LinkedPosts linked,
      Consumer<Throwable> onRefusal,
      long prefix,
      int depth,
      HcaMeter hca,
      @Nullable SignalTrailers trailers) {
    this.trailers = trailers;
    this.queuePair = queuePair;
    this.receives = receives;
    this.linked = linked;
    this.onRefusal = onRefusal;
    this.prefix = prefix;
    this.depth = depth;
    int slots = slots(depth);
    mask = slots - 1;
    signalMask = Math.max(1, Integer.highestOneBit(depth) >> 2) - 1;
    held = new @Nullable ByteBuf[slots];
    leases = new @Nullable Lease[slots];
    queued = new int[slots];
    meter = hca.connection(this, slots);
    OpenQueuePairs.use(queuePair, this);
  }

  /** Returns the places for what is posted, of a queue of this depth. */
  static int slots(int depth) {
    return Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
  }

  /** Returns the bytes of the channel's queue that are posted. */
  PostedBytes waiting() {
    return waiting;
  }

  /** Returns the meter of this connection. */
  ConnectionMeter meter() {
    return meter;
  }

  /**
   * Begins to send, with the lengths and the credits of the peer's handshake.
   *
   * @param longest in bytes, also of what this end sends
   */
  void open(Handshake peer, int longest) {
    piece = Math.min(peer.piece(), longest);
    firstCredits = peer.receives();
    credits += firstCredits;
  }

  /** Returns the most bytes that a message takes. */
  int piece() {
    return piece;
  }

  /**
   * Adds credits that the peer returns.
   *
   * @return false if the peer returns more than it ever had, {@link Handshake#MOST_RECEIVES}
   */
  boolean addCredits(int count) {
    if (count > Handshake.MOST_RECEIVES - credits) {
      return false;
    }
    credits += count;
    return true;
  }

  /** Returns whether bytes can be posted now. */
  boolean canSend() {
    return credits > RESERVED && inFlight() < depth - KEPT_FROM_BYTES && !ended;
  }

  private int inFlight() {
    return posted - completed;
  }

  /** Returns whether it has credits beyond those that it keeps, and can give them back. */
  boolean canGiveBack() {
    return credits > firstCredits + 1 && canSend();
  }

  /** Gives all credits back but those that it keeps; the message itself takes one. */
  void giveBack() {
    int count = Math.min(credits - firstCredits - 1, Signal.MOST_CREDITS);
    post(begin(Signal.back(count)).signaled());
    postLinked();
    credits -= count;
  }

  /** Returns whether everything that was posted is known to have completed. */
  boolean isIdle() {
    return posted == completed;
  }

  /**
   * Posts bytes that the HCA reads where they are.
   *
   * @param at where they are; its lease, if it has one, is released with the buffer
   * @param buffer is released when that is done; stays the caller's if this throws
   * @param inQueue bytes of the channel's queue that stay there until the message is sent
   * @param signal the {@link Signal} of the credits that it returns
   */
  void send(Location at, int length, ByteBuf buffer, int inQueue, int signal) {
    SendWorkRequest request = begin(signal).buffer(at.address(), length, at.lkey()).signaled();
    int slot = posted & mask;
    Lease lease = at.takeLease();
    try {
      post(request);
    } catch (RuntimeException | Error e) {
      if (lease != null) {
        lease.release();
      }
      throw e;
    }
    held[slot] = buffer;
    leases[slot] = lease;
    queued[slot] = inQueue;
    heldCount++;
    meter.sent(length);
  }

  /** Returns whether there is room for {@link #ask}. */
  boolean canAsk() {
    return inFlight() < (ended ? depth : depth - KEPT_FROM_QUESTIONS);
  }

  /**
   * Posts a probe, whose completion shows that the peer's HCA has taken all before it. It takes no
   * credit.
   */
  void ask() {
    SendWorkRequest request = KeepAliveProbe.fill(next(), queuePair);
    meter.posted(posted & mask, request);
    hand(request);
    postLinked();
  }

  /** Posts bytes that the request takes along. */
  void sendInline(ByteBuffer data, int inQueue, int signal) {
    SendWorkRequest request = begin(signal).inline(data);
    queued[posted & mask] = inQueue;
    if (inQueue > 0 || (posted & signalMask) == signalMask) {
      request.signaled();
    }
    meter.sent(data.remaining());
    post(request);
    // The caller uses the bytes' memory again.
    postLinked();
  }

  /** Returns whether a message that only returns credits can be posted. */
  boolean canReturn() {
    return credits > (ended ? 0 : RESERVED - 1) && inFlight() < depth - KEPT_FROM_CREDITS;
  }

  /** Posts a message that only returns credits. */
  void returnCredits(int signal) {
    post(begin(ended ? Signal.end(signal) : signal).signaled());
    postLinked();
  }

  /** Ends the stream behind all that is posted. Idempotent. */
  void end(int signal) {
    if (!ended) {
      ended = true;
      post(begin(Signal.end(signal)).signaled());
      postLinked();
    }
  }

  /** Returns whether the stream was ended. */
  boolean hasEnded() {
    return ended;
  }

  private SendWorkRequest next() {
    return linked == null ? single : linked.next(this);
  }

  private SendWorkRequest begin(int itsSignal) {
    signal = itsSignal;
    SendWorkRequest request = next();
    return trailers == null ? request.sendWithImmediate(itsSignal) : request.send();
  }

  private void post(SendWorkRequest request) {
    if (trailers != null) {
      trailers.append(request, posted & mask, signal);
    }
    meter.posted(posted & mask, request);
    hand(request);
    credits--;
  }

  private void hand(SendWorkRequest request) {
    request.id(WorkRequestId.send(prefix, posted));
    if (linked == null) {
      queuePair.postSend(request);
    } else {
      linked.add(queuePair, this);
    }
    posted++;
  }

  /**
   * Posts what {@link #send} has left.
   *
   * @throws VerbsException if the HCA refuses some of it, for which the stream breaks
   */
  void postLinked() {
    if (linked != null) {
      linked.post(this);
    }
  }

  @Override
  public void postReceives() {
    receives.post();
  }

  /** {@inheritDoc} Its bytes are lost, and the stream breaks. */
  @Override
  public boolean refused(int sequence, Throwable why) {
    int end = posted;
    posted = sequence;
    onRefusal.accept(why);
    for (int each = posted; each - end < 0; each++) {
      meter.forget(each & mask);
      try {
        free(each & mask);
      } catch (RuntimeException | Error e) {
        // A buffer of the program's: this may be called in another stream's post.
        why.addSuppressed(e);
      }
    }
    return true;
  }

  /** Handles the completion of a message, and of all before it. */
  void completed(int sequence, CompletionStatus status) {
    while (completed - sequence <= 0 && completed != posted) {
      int slot = completed & mask;
      CompletionStatus its = completed == sequence ? status : CompletionStatus.SUCCESS;
      meter.completed(slot, its);
      if (its == CompletionStatus.SUCCESS) {
        waiting.sent(queued[slot]);
      }
      free(slot);
      completed++;
    }
  }

  @Override
  public int sendQueueDepth() {
    // Its two ends are read one after the other, perhaps by another thread.
    return Math.min(depth, Math.max(0, posted - completed));
  }

  @Override
  public int sendQueueLimit() {
    return depth;
  }

  @Override
  public int credits(Credit kind) {
    return Math.max(0, credits);
  }

  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Map<String, Integer> credits() {
    return Map.of("receive", credits(Credit.RECEIVE));
  }

  private void free(int slot) {
    queued[slot] = 0;
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

  /** Returns whether a completion will release memory. */
  boolean holdsMemory() {
    return heldCount > 0;
  }

  /** Releases all memory, once the queue pair is closed. Idempotent. */
  void release() {
    meter.close();
    for (int slot = 0; slot < held.length; slot++) {
      free(slot);
    }
    if (trailers != null && !released) {
      trailers.release();
    }
    released = true;
    completed = posted;
  }
}
