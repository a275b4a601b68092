// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.Ticks;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.receive.Receives;
import io.verbena.meters.ConnectionMeter;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a send queue. A slot is taken when a request is posted and freed when its
 * completion, or a later one of this queue, is polled: completions come in the order of the posts.
 *
 * <p>Where the loop links its posts, a request is posted at the end of the duty cycle at the
 * latest. If the HCA refuses it then, the connection ends, as the requests behind it must not
 * arrive without it. Only on the loop, unless a method says otherwise.
 */
public final class SendSlots implements LinkedPosts.Poster {
  private static final int FIRST_OWNERS = 2;
  private static final int MOST_INLINE = 256;

  private final QueuePair pair;
  private final Receives receives;
  private final CompletionLoop loop;
  private final Ticks ticks;
  private final long prefix;
  private final int capacity;
  private final int mask;
  private final ConnectionMeter meter;
  private final FailureGuard.Handler onRefusal;
  private final @Nullable LinkedPosts linked;
  private final SendWorkRequest single;
  private final int inlineLimit;

  /** Owners by sequence, modulo the length; it grows with the requests in flight. */
  private @Nullable RequestOwner[] owners = new @Nullable RequestOwner[FIRST_OWNERS];

  private int[] postedAt = new int[FIRST_OWNERS];
  private int head;
  private int tail;

  /** The number of free slots that frames with data leave. */
  private int kept;

  private boolean newestIsSignaled;

  /** Why the HCA has refused a list of requests, until the connection ends for it; else null. */
  private @Nullable Throwable refusal;

  /** Owners of refused requests, which fail when the connection ends. */
  private final ArrayDeque<RequestOwner> refused = new ArrayDeque<>(0);

  /**
   * Creates the slots of {@code pair}'s send queue, whose work request ids begin with {@code
   * prefix}.
   *
   * @param receives posted before the requests that may give the peer credits for them
   * @param ticks requested while a request is in flight
   * @param onRefusal ends the connection when the HCA has refused a list of requests
   */
  public SendSlots(
      QueuePair pair,
      Receives receives,
      LoopResources resources,
      Ticks ticks,
      long prefix,
      int capacity,
      ConnectionMeter meter,
      FailureGuard.Handler onRefusal) {
    this.pair = pair;
    this.receives = receives;
    this.ticks = ticks;
    this.prefix = prefix;
    this.capacity = capacity;
    this.meter = meter;
    this.onRefusal = onRefusal;
    loop = resources.loop();
    linked = loop.linkedPosts();
    single = resources.send();
    inlineLimit = Math.min(inlineData(loop.device()), pair.capabilities().maxInlineData());
    mask = slotsFor(capacity) - 1;
  }

  /**
   * Returns how many bytes of inline payload a queue pair of {@code device} is to take; 0 unless
   * its posts are costly.
   */
  public static int inlineData(Device device) {
    return device.hasCostlyPosts() ? Math.min(MOST_INLINE, device.attributes().maxInlineData()) : 0;
  }

  /** Returns the size in bytes up to which a payload is posted inline. */
  public int inlineLimit() {
    return inlineLimit;
  }

  /** Returns how many slot numbers a queue of this capacity has. */
  public static int slotsFor(int capacity) {
    return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
  }

  /** Returns whether device and peer support a capability; from any thread. */
  public boolean supports(Capability capability) {
    return pair.supports(capability);
  }

  /** Returns the ticks of its connection. */
  public Ticks ticks() {
    return ticks;
  }

  /** Returns how many requests the queue takes. */
  public int capacity() {
    return capacity;
  }

  /** Returns the number of free slots. */
  public int free() {
    return capacity - (head - tail);
  }

  /** Returns the number of slots that frames with data may take; none if it is not positive. */
  public int freeForData() {
    return capacity - kept - (head - tail);
  }

  /** Sets the number of free slots that frames with data leave. */
  void keep(int slots) {
    kept = slots;
  }

  /** Returns whether all requests are known to be done. */
  public boolean isEmpty() {
    return head == tail;
  }

  /** Returns the number of requests that are not known to be done. */
  public int depth() {
    return head - tail;
  }

  /** Returns how many requests are known to be done, modulo 2<sup>32</sup>. */
  public int completed() {
    return tail;
  }

  /**
   * Returns whether the newest request may end without a completion: unsignaled, it may have
   * succeeded before the queue was stopped, and is not flushed then.
   */
  public boolean isEndUnsent() {
    return head != tail && !newestIsSignaled;
  }

  /**
   * Returns the slot number of the next request, below {@link #slots}; it is that request's own
   * until it completes.
   */
  public int nextSlot() {
    return head & mask;
  }

  /** Returns how many slot numbers there are. */
  public int slots() {
    return mask + 1;
  }

  /** Returns the request to fill for the next {@link #post}. */
  public SendWorkRequest request() {
    return linked == null ? single : linked.next(this);
  }

  /**
   * Posts a request into a free slot.
   *
   * @param request the request that {@link #request} has returned last
   * @param owner called when the request ends
   * @throws VerbsException if the HCA refuses it; then nothing was posted
   */
  public void post(SendWorkRequest request, RequestOwner owner) {
    if (refusal != null) {
      // Requests behind a refused one must not arrive.
      refused.add(owner);
      return;
    }
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
    request.id(WorkRequestId.send(prefix, sequence));
    if (linked == null) {
      postAlone(request, sequence);
    } else {
      linked.add(pair, this);
    }
    newestIsSignaled = (request.flags() & SendWorkRequest.SIGNALED) != 0;
    ticks.ask();
  }

  private void postAlone(SendWorkRequest request, int sequence) {
    try {
      pair.postSend(request);
    } catch (VerbsException e) {
      head = sequence;
      owners[sequence & owners.length - 1] = null;
      meter.forget(sequence & mask);
      throw e;
    }
  }

  /** Posts now the requests that would be posted at the end of the duty cycle. */
  public void postLinked() {
    if (linked != null) {
      linked.post(this);
    }
  }

  @Override
  public void postReceives() {
    receives.post();
  }

  @Override
  public boolean refused(int sequence, Throwable why) {
    for (int each = sequence; each != head; each++) {
      int at = each & owners.length - 1;
      RequestOwner owner = owners[at];
      owners[at] = null;
      meter.forget(each & mask);
      if (owner != null) {
        refused.add(owner);
      }
    }
    head = sequence;
    newestIsSignaled = false;
    refusal = why;
    // Not here: the end of the connection calls subscribers, which must not happen within a post.
    loop.execute(this::endForRefusal);
    return false;
  }

  private void endForRefusal() {
    Throwable why = refusal;
    if (why != null) {
      onRefusal.broke(why);
      // The queue pair is in its error state now: further requests are flushed.
      refusal = null;
    }
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
   * Retires all requests up to {@code sequence}, and returns the owner of that one, which ended
   * with {@code status}. Those before it have succeeded, though they were not signaled.
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

  /** Tells an owner that its request has succeeded; what it throws ends the connection. */
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

  /**
   * Returns the owner of the oldest request if that was posted more than {@code late} ticks ago,
   * else null.
   */
  public @Nullable RequestOwner overdue(int late) {
    int at = tail & owners.length - 1;
    return head != tail && loop.tick() - postedAt[at] > late ? owners[at] : null;
  }

  /** Calls {@code visitor} with the owners that a subscriber waits for; on a watchdog's thread. */
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

  /**
   * Removes and returns the owner of the oldest request, or null if there is none; those of refused
   * requests come last. Called once the queue pair is destroyed.
   */
  public @Nullable RequestOwner abandon() {
    return head == tail ? refused.poll() : retire(CompletionStatus.WR_FLUSH_ERR);
  }
}
