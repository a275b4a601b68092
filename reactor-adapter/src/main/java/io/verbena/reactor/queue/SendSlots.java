// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a send queue. A slot is taken when a request is posted and freed when its
 * completion, or a later one of this queue, is polled: completions come in the order of the posts.
 */
public final class SendSlots {
  private final QueuePair pair;
  private final CompletionLoop loop;
  private final long prefix;
  private final int capacity;
  private final int mask;
  private final ConnectionMeter meter;
  private final @Nullable RequestOwner[] owners;
  private final int[] postedAt;
  private int head;
  private int tail;
  private boolean endIsTold;

  /** The slots of {@code pair}'s send queue, whose work request ids begin with {@code prefix}. */
  public SendSlots(
      QueuePair pair, CompletionLoop loop, long prefix, int capacity, ConnectionMeter meter) {
    this.pair = pair;
    this.loop = loop;
    this.prefix = prefix;
    this.capacity = capacity;
    this.meter = meter;
    int size = slotsFor(capacity);
    mask = size - 1;
    owners = new @Nullable RequestOwner[size];
    postedAt = new int[size];
  }

  /** How many slot numbers a queue of this capacity has. */
  public static int slotsFor(int capacity) {
    return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
  }

  /** How many requests it takes. */
  public int capacity() {
    return capacity;
  }

  /** Slots that are free. */
  public int free() {
    return capacity - (head - tail);
  }

  /** Whether all requests are known to be done. */
  public boolean isEmpty() {
    return head == tail;
  }

  /** Requests that are not known to be done. */
  public int depth() {
    return head - tail;
  }

  /** How many requests are known to be done, modulo 2<sup>32</sup>. */
  public int completed() {
    return tail;
  }

  /**
   * Whether nothing may ever tell that the newest request is over: unsignaled, it may have
   * succeeded before the queue was stopped, and then it is not flushed either.
   */
  public boolean isEndUntold() {
    return head != tail && !endIsTold;
  }

  /** The slot that the next request takes, below twice the capacity, its own until it completes. */
  public int nextSlot() {
    return head & mask;
  }

  /** How many slot numbers there are. */
  public int slots() {
    return mask + 1;
  }

  /**
   * Posts a request into a free slot.
   *
   * @throws VerbsException if the HCA refuses it; then nothing was posted
   */
  public void post(SendWorkRequest request, RequestOwner owner) {
    int sequence = head;
    int slot = sequence & mask;
    owners[slot] = owner;
    postedAt[slot] = loop.tick();
    head = sequence + 1;
    meter.posted(slot, request);
    try {
      pair.postSend(request.id(WorkRequestId.send(prefix, sequence)));
    } catch (VerbsException e) {
      head = sequence;
      owners[slot] = null;
      meter.forget(slot);
      throw e;
    }
    endIsTold = (request.flags() & SendWorkRequest.SIGNALED) != 0;
    loop.pending(1);
  }

  /**
   * Retires all before {@code sequence}, which are done though they were not signaled, and returns
   * the owner of that one, which ended with {@code status}.
   */
  public RequestOwner retireTo(int sequence, CompletionStatus status, FailureGuard guard) {
    if (sequence - tail < 0 || sequence - head >= 0) {
      throw new IllegalStateException(
          "completion of send " + sequence + " (expected: " + tail + ".." + (head - 1) + ")");
    }
    while (tail != sequence) {
      succeed(retire(CompletionStatus.SUCCESS), guard);
    }
    return retire(status);
  }

  /** Tells an owner that its request is done. */
  public static void succeed(RequestOwner owner, FailureGuard guard) {
    try {
      owner.succeeded();
    } catch (Throwable e) {
      guard.broke(e);
    }
  }

  private RequestOwner retire(CompletionStatus status) {
    int slot = tail & mask;
    meter.completed(slot, status);
    RequestOwner owner = owners[slot];
    if (owner == null) {
      throw new IllegalStateException("no owner of send " + tail);
    }
    owners[slot] = null;
    tail++;
    loop.pending(-1);
    return owner;
  }

  /** The owner of the oldest request if that was posted more than so many ticks ago, else null. */
  public @Nullable RequestOwner overdue(int ticks) {
    int slot = tail & mask;
    return head != tail && loop.tick() - postedAt[slot] > ticks ? owners[slot] : null;
  }

  /** Calls {@code visitor} with the owners that somebody waits for; by a watchdog. */
  public void forEachAwaited(AwaitedVisitor visitor) {
    int now = loop.tick();
    for (int slot = 0; slot <= mask; slot++) {
      if (owners[slot] instanceof Awaited awaited) {
        visitor.visit(awaited, now - postedAt[slot]);
      }
    }
  }

  /** Returns the owner of the oldest request and forgets it, once the queue pair is gone. */
  public @Nullable RequestOwner abandon() {
    return head == tail ? null : retire(CompletionStatus.WR_FLUSH_ERR);
  }
}
