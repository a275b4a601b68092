// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.Ticks;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.verbs.Capability;
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
  private static final int FIRST_OWNERS = 2;

  private final QueuePair pair;
  private final CompletionLoop loop;
  private final Ticks ticks;
  private final long prefix;
  private final int capacity;
  private final int mask;
  private final ConnectionMeter meter;

  /** By sequence modulo their length, which grows with the requests that are under way at once. */
  private @Nullable RequestOwner[] owners = new @Nullable RequestOwner[FIRST_OWNERS];

  private int[] postedAt = new int[FIRST_OWNERS];
  private int head;
  private int tail;
  private boolean endIsTold;

  /**
   * The slots of {@code pair}'s send queue, whose work request ids begin with {@code prefix}.
   *
   * @param ticks asked for while a request is under way
   */
  public SendSlots(
      QueuePair pair,
      CompletionLoop loop,
      Ticks ticks,
      long prefix,
      int capacity,
      ConnectionMeter meter) {
    this.pair = pair;
    this.loop = loop;
    this.ticks = ticks;
    this.prefix = prefix;
    this.capacity = capacity;
    this.meter = meter;
    mask = slotsFor(capacity) - 1;
  }

  /** How many slot numbers a queue of this capacity has. */
  public static int slotsFor(int capacity) {
    return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
  }

  /** Whether device and peer can do what needs a capability; for any thread. */
  public boolean supports(Capability capability) {
    return pair.supports(capability);
  }

  /** The ticks of its connection. */
  public Ticks ticks() {
    return ticks;
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
    if (sequence - tail == owners.length) {
      grow();
    }
    int slot = sequence & mask;
    int at = sequence & owners.length - 1;
    owners[at] = owner;
    postedAt[at] = loop.tick();
    head = sequence + 1;
    meter.posted(slot, request);
    try {
      pair.postSend(request.id(WorkRequestId.send(prefix, sequence)));
    } catch (VerbsException e) {
      head = sequence;
      owners[at] = null;
      meter.forget(slot);
      throw e;
    }
    endIsTold = (request.flags() & SendWorkRequest.SIGNALED) != 0;
    ticks.ask();
  }

  private void grow() {
    int length = owners.length;
    @Nullable RequestOwner[] moreOwners = new @Nullable RequestOwner[2 * length];
    int[] moreTimes = new int[2 * length];
    for (int sequence = tail; sequence != head; sequence++) {
      int to = sequence & moreOwners.length - 1;
      moreOwners[to] = owners[sequence & length - 1];
      moreTimes[to] = postedAt[sequence & length - 1];
    }
    postedAt = moreTimes;
    owners = moreOwners;
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
    meter.completed(tail & mask, status);
    int at = tail & owners.length - 1;
    RequestOwner owner = owners[at];
    if (owner == null) {
      throw new IllegalStateException("no owner of send " + tail);
    }
    owners[at] = null;
    tail++;
    return owner;
  }

  /** The owner of the oldest request if that was posted more than so many ticks ago, else null. */
  public @Nullable RequestOwner overdue(int late) {
    int at = tail & owners.length - 1;
    return head != tail && loop.tick() - postedAt[at] > late ? owners[at] : null;
  }

  /** Calls {@code visitor} with the owners that somebody waits for; by a watchdog. */
  public void forEachAwaited(AwaitedVisitor visitor) {
    int now = loop.tick();
    @Nullable RequestOwner[] seen = owners;
    int[] since = postedAt;
    for (int at = 0; at < Math.min(seen.length, since.length); at++) {
      if (seen[at] instanceof Awaited awaited) {
        visitor.visit(awaited, now - since[at]);
      }
    }
  }

  /** Returns the owner of the oldest request and forgets it, once the queue pair is gone. */
  public @Nullable RequestOwner abandon() {
    return head == tail ? null : retire(CompletionStatus.WR_FLUSH_ERR);
  }
}
