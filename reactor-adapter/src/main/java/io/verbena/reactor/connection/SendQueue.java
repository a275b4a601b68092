package io.verbena.reactor.connection;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.meters.ConnectionMeter;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a send queue. A slot is taken when a request is posted and freed when its
 * completion, or a later one of this queue, is polled: completions come in the order of the posts.
 */
final class SendQueue {
  private final QueuePair pair;
  private final CompletionLoop loop;
  private final long prefix;
  private final int capacity;
  private final int mask;
  private final ConnectionMeter meter;
  private final @Nullable Posted[] owners;
  private final int[] postedAt;
  private int head;
  private int tail;
  private boolean endIsTold;

  SendQueue(QueuePair pair, CompletionLoop loop, long prefix, int capacity, ConnectionMeter meter) {
    this.pair = pair;
    this.loop = loop;
    this.prefix = prefix;
    this.capacity = capacity;
    this.meter = meter;
    int size = slotsFor(capacity);
    mask = size - 1;
    owners = new @Nullable Posted[size];
    postedAt = new int[size];
  }

  /** How many slot numbers a queue of this capacity has. */
  static int slotsFor(int capacity) {
    return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
  }

  int capacity() {
    return capacity;
  }

  int free() {
    return capacity - (head - tail);
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Requests that are not known to be done. */
  int depth() {
    return head - tail;
  }

  /**
   * Whether nothing may ever tell that the newest request is over: unsignaled, it may have
   * succeeded before the queue was stopped, and then it is not flushed either.
   */
  boolean isEndUntold() {
    return head != tail && !endIsTold;
  }

  /** The slot that the next request takes, below twice the capacity, its own until it completes. */
  int nextSlot() {
    return head & mask;
  }

  /** How many slot numbers there are. */
  int slots() {
    return mask + 1;
  }

  /**
   * Posts a request into a free slot.
   *
   * @throws VerbsException if the HCA refuses it; then nothing was posted
   */
  void post(SendWorkRequest request, Posted owner) {
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
   * Retires all before {@code sequence}, which are done though they were not signaled, and answers
   * the owner of that one, which ended with {@code status}.
   */
  Posted retireTo(int sequence, CompletionStatus status, Connection connection) {
    if (sequence - tail < 0 || sequence - head >= 0) {
      throw new IllegalStateException(
          "completion of send " + sequence + " (expected: " + tail + ".." + (head - 1) + ")");
    }
    while (tail != sequence) {
      connection.succeeded(retire(CompletionStatus.SUCCESS));
    }
    return retire(status);
  }

  private Posted retire(CompletionStatus status) {
    int slot = tail & mask;
    meter.completed(slot, status);
    Posted owner = owners[slot];
    if (owner == null) {
      throw new IllegalStateException("no owner of send " + tail);
    }
    owners[slot] = null;
    tail++;
    loop.pending(-1);
    return owner;
  }

  /** The owner of the oldest request if that was posted more than so many ticks ago, else null. */
  @Nullable Posted overdue(int ticks) {
    int slot = tail & mask;
    return head != tail && loop.tick() - postedAt[slot] > ticks ? owners[slot] : null;
  }

  /** Answers the owner of the oldest request and forgets it, once the queue pair is gone. */
  @Nullable Posted abandon() {
    return head == tail ? null : retire(CompletionStatus.WR_FLUSH_ERR);
  }
}
