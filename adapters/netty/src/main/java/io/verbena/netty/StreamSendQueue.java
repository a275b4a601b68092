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
 * The send queue of a stream: the posted requests, the memory that the HCA reads until they
 * complete, and the peer's credits. A credit stands for a receive that the peer has posted; each
 * message takes one. The last two credits are reserved for messages that must not wait for the peer
 * to read: one that returns credits, and the one that ends the stream. The last places of the queue
 * are reserved likewise, and one more for a keep-alive probe. On the event loop's thread only,
 * except for the methods that a meter calls.
 *
 * <p>If the loop links its posts, a request of {@link #send} waits for {@link #postLinked}, or for
 * a call of another method that posts: those post at once.
 */
final class StreamSendQueue implements ConnectionState, QueuePairUser, LinkedPosts.Poster {
  /** Credits that bytes may not use. */
  static final int RESERVED = Handshake.LEAST_RECEIVES - 1;

  /** Places of the queue that a probe may not take: that of the end. */
  private static final int KEPT_FROM_PROBES = 1;

  /** Places that a return of credits may not take: also that of a probe. */
  private static final int KEPT_FROM_CREDITS = 2;

  /** Places that bytes may not take: also that of a return of credits. */
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

  /**
   * For each slot the number of bytes that stay in the channel's queue until the message is sent.
   */
  private final int[] queued;

  private final PostedBytes waiting = new PostedBytes();
  private final SendWorkRequest single = new SendWorkRequest(/* maxScatterGather= */ 2);

  /** The memory of control words on a device without immediate data; else null. */
  private final @Nullable ControlTrailers trailers;

  private final ConnectionMeter meter;
  private int control;
  private int heldCount;
  private int posted;
  private int completed;
  private int credits;

  /** The credits that the peer grants at all times. */
  private int firstCredits;

  private int piece;
  private boolean ended;
  private boolean released;

  /**
   * @param receives posted before the messages that may give the peer credits for them
   * @param linked the loop's, or null
   * @param onRefusal breaks the stream when the HCA has refused posted requests
   * @param depth the most requests that may be posted at once
   * @param hca creates the meter of the connection
   * @param trailers with {@link #slots} places, taken over; null if the device has immediate data
   */
  StreamSendQueue(
      QueuePair queuePair,
      Receives receives,
      @Nullable LinkedPosts linked,
      Consumer<Throwable> onRefusal,
      long prefix,
      int depth,
      HcaMeter hca,
      @Nullable ControlTrailers trailers) {
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

  /** Returns the number of slots, a power of two, for a queue of this depth. */
  static int slots(int depth) {
    return Integer.highestOneBit(Math.max(1, depth - 1)) << 1;
  }

  /** Returns the count of the bytes in the channel's queue that are posted. */
  PostedBytes waiting() {
    return waiting;
  }

  /** Returns the meter of this connection. */
  ConnectionMeter meter() {
    return meter;
  }

  /**
   * Opens the queue, with the message length and the credits of the peer's handshake.
   *
   * @param longest the longest message of this end, in bytes
   */
  void open(Handshake peer, int longest) {
    piece = Math.min(peer.piece(), longest);
    firstCredits = peer.receives();
    credits += firstCredits;
  }

  /** Returns the most bytes of a message. */
  int piece() {
    return piece;
  }

  /**
   * Adds credits that the peer returns.
   *
   * @return false if there would be more than {@link Handshake#MOST_RECEIVES}
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

  /**
   * Returns whether there are more credits than the peer grants at all times, and a message can
   * return them.
   */
  boolean canGiveBack() {
    return credits > firstCredits + 1 && canSend();
  }

  /**
   * Returns the credits beyond those that the peer grants at all times; the message itself takes
   * one.
   */
  void giveBack() {
    int count = Math.min(credits - firstCredits - 1, ControlWord.MOST_CREDITS);
    post(begin(ControlWord.back(count)).signaled());
    postLinked();
    credits -= count;
  }

  /** Returns whether everything that was posted is known to have completed. */
  boolean isIdle() {
    return posted == completed;
  }

  /**
   * Posts bytes that the HCA reads in place.
   *
   * @param at the location of the bytes; its lease, if it has one, is released with the buffer
   * @param buffer released when the message has completed; stays the caller's if this throws
   * @param inQueue how many bytes stay in the channel's queue until the message is sent
   * @param control the {@link ControlWord} of the credits that it returns
   */
  void send(Location at, int length, ByteBuf buffer, int inQueue, int control) {
    SendWorkRequest request = begin(control).buffer(at.address(), length, at.lkey()).signaled();
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
    return inFlight() < (ended ? depth : depth - KEPT_FROM_PROBES);
  }

  /**
   * Posts a probe, whose completion shows that the peer's HCA has taken everything before it. The
   * probe takes no credit.
   */
  void ask() {
    SendWorkRequest request = KeepAliveProbe.fill(next(), queuePair);
    meter.posted(posted & mask, request);
    hand(request);
    postLinked();
  }

  /** Posts bytes as inline data. */
  void sendInline(ByteBuffer data, int inQueue, int control) {
    SendWorkRequest request = begin(control).inline(data);
    queued[posted & mask] = inQueue;
    if (inQueue > 0 || (posted & signalMask) == signalMask) {
      request.signaled();
    }
    meter.sent(data.remaining());
    post(request);
    // The caller reuses the memory of the bytes.
    postLinked();
  }

  /** Returns whether a message that only returns credits can be posted. */
  boolean canReturn() {
    return credits > (ended ? 0 : RESERVED - 1) && inFlight() < depth - KEPT_FROM_CREDITS;
  }

  /** Posts a message that only returns credits. */
  void returnCredits(int control) {
    post(begin(ended ? ControlWord.end(control) : control).signaled());
    postLinked();
  }

  /** Posts the message that ends the stream. Idempotent. */
  void end(int control) {
    if (!ended) {
      ended = true;
      post(begin(ControlWord.end(control)).signaled());
      postLinked();
    }
  }

  /** Returns whether the message that ends the stream was posted. */
  boolean hasEnded() {
    return ended;
  }

  private SendWorkRequest next() {
    return linked == null ? single : linked.next(this);
  }

  private SendWorkRequest begin(int itsControl) {
    control = itsControl;
    SendWorkRequest request = next();
    return trailers == null ? request.sendWithImmediate(itsControl) : request.send();
  }

  private void post(SendWorkRequest request) {
    if (trailers != null) {
      trailers.append(request, posted & mask, control);
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
   * Posts the requests that {@link #send} has left.
   *
   * @throws VerbsException if the HCA refuses one, which breaks the stream
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

  /** {@inheritDoc} The bytes are lost, and the stream breaks. */
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
        // A buffer of the program may throw, and this may be called in another stream's post.
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
    // The two counts are read one after the other, perhaps on another thread.
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
