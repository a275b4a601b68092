// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.provider.Range;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A completion ring with two protocols around it: a polled completion frees slots of its send or
 * receive queue, and a published completion wakes a waiting thread.
 *
 * <p>Waking: a producer publishes, fences, and checks whether the queue is armed; a consumer arms,
 * fences, and polls once more. So at least one of the two sees the other. A queue without a channel
 * needs no fence.
 */
public final class EmulatedCompletionQueue implements CompletionQueue {
  private static final int DISARMED = 0;
  private static final int ARMED_SOLICITED = 1;
  private static final int ARMED = 2;
  private static final int MAX_ATTACHMENTS = 1 << 16;

  /** The number of entries of a new queue's ring, which grows when needed. */
  private static final int FIRST_ROOM = 16;

  private static final VarHandle ARM_STATE;

  static {
    try {
      ARM_STATE =
          MethodHandles.lookup()
              .findVarHandle(EmulatedCompletionQueue.class, "armState", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The state that the channel keeps for this queue. */
  final EmulatedCompletionChannel.Events events = new EmulatedCompletionChannel.Events();

  private final EmulatedDevice device;
  private final @Nullable EmulatedCompletionChannel channel;
  private final @Nullable Ownership polling;
  private final boolean drivenByPolling;

  /** Written, like {@link #depth}, under {@link #growing}. */
  private volatile CompletionRing ring;

  private volatile int depth;
  private final Object growing = new Object();

  /** The consumer's position at the last overrun, or -1; guarded by {@link #growing}. */
  private long lastOverrunHead = -1;

  private volatile int armState;
  private volatile boolean closed;

  /**
   * True if more than one send or receive queue completes here. While only one does, its owner is
   * the only producer. It then claims entries without a compare-and-set, which would be most of the
   * cost of a small operation.
   */
  private volatile boolean shared;

  /** The queue pairs that complete here; changed under this object's monitor. */
  private final Attachments attached = new Attachments();

  /**
   * Creates a queue without queue pairs. The device and the channel have already counted the queue.
   *
   * @param singleThreaded whether only one thread polls at a time, so that polling takes no
   *     ownership
   */
  public EmulatedCompletionQueue(
      EmulatedDevice device,
      int depth,
      @Nullable EmulatedCompletionChannel channel,
      boolean singleThreaded) {
    this.device = device;
    this.depth = depth;
    this.channel = channel;
    polling = singleThreaded ? null : new Ownership();
    ring = new CompletionRing(Math.min(depth, FIRST_ROOM));
    drivenByPolling = device.fabric().isDrivenByPolling();
  }

  EmulatedDevice device() {
    return device;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public int depth() {
    return depth;
  }

  /** Returns the number of completions that are not polled; it may be outdated on return. */
  long waiting() {
    // The head may have advanced after the tail was read.
    return Math.max(0, ring.held());
  }

  @Override
  public @Nullable EmulatedCompletionChannel channel() {
    return channel;
  }

  @Override
  public int poll(WorkCompletion[] completions) {
    CompletionRing now = ring;
    long head = now.head();
    if (!now.holding(head).isPublished(head)) {
      if (closed) {
        throw new VerbsException(VerbsError.CLOSED, "poll: the completion queue is closed");
      }
      if (!drivenByPolling || !device.fabric().progress()) {
        return 0;
      }
    }
    Ownership pollers = polling;
    if (pollers == null) {
      return take(completions);
    }
    pollers.acquire();
    try {
      return take(completions);
    } finally {
      pollers.release();
    }
  }

  private int take(WorkCompletion[] completions) {
    CompletionRing latest = ring;
    long position = latest.head();
    CompletionRing from = latest.holding(position);
    int count = 0;
    while (count < completions.length) {
      if (!from.isPublished(position)) {
        CompletionRing next = latest.holding(position);
        if (next == from || !next.isPublished(position)) {
          break;
        }
        from = next;
      }
      int at = from.at(position);
      from.read(at, completions[count]);
      free(from, at, completions[count].queuePairNumber());
      count++;
      position++;
    }
    from.consumed(position);
    return count;
  }

  private void free(CompletionRing from, int at, int queuePairNumber) {
    EmulatedQueuePair pair = attached.get(from.attachment(at));
    if (pair != null && pair.number() == queuePairNumber) {
      if (from.isReceive(at)) {
        pair.freeReceives(from.frees(at));
      } else {
        pair.freeSends(from.frees(at));
      }
    }
  }

  /**
   * Claims an entry, as {@link CompletionRing#claim} does; the ring grows if it is full, up to the
   * depth of the queue.
   */
  public long claim() {
    CompletionRing now = ring;
    boolean alone = !shared;
    long position = alone ? now.claimAlone() : now.claim();
    return position == CompletionRing.OVERRUN ? claimAgain(now, alone) : position;
  }

  private long claimAgain(CompletionRing full, boolean alone) {
    synchronized (growing) {
      if (ring == full && (full.room() >= depth || !grow(full, alone))) {
        return CompletionRing.OVERRUN;
      }
    }
    return claim();
  }

  private boolean grow(CompletionRing full, boolean alone) {
    CompletionRing larger;
    try {
      larger = full.successor();
    } catch (OutOfMemoryError e) {
      // An HCA that cannot place a completion reports an overrun.
      return false;
    }
    larger.limit(depth);
    larger.follow(full, alone);
    ring = larger;
    larger.thaw();
    return true;
  }

  /** Publishes a claimed entry, and raises an event if the queue is armed for it. */
  public void publish(long position, CompletionEntry completion) {
    ring.holding(position).publish(position, completion);
    if (channel != null) {
      VarHandle.fullFence();
      int armed = armState;
      if (armed == ARMED || (armed == ARMED_SOLICITED && completion.isSolicited())) {
        wake(armed);
      }
    }
  }

  private void wake(int armed) {
    EmulatedCompletionChannel target = channel;
    if (target != null && ARM_STATE.compareAndSet(this, armed, DISARMED)) {
      target.raise(this);
    }
  }

  @Override
  public void arm(boolean solicitedOnly) {
    if (channel == null) {
      throw new VerbsException(VerbsError.INVALID, "arm: the completion queue has no channel");
    }
    if (!solicitedOnly) {
      armState = ARMED;
    } else {
      // Does not weaken an earlier arming for all completions.
      ARM_STATE.compareAndSet(this, DISARMED, ARMED_SOLICITED);
    }
    VarHandle.fullFence();
    if (drivenByPolling) {
      device.fabric().pollingEnds(!channel.isListenedTo());
    }
  }

  @Override
  public void acknowledgeEvents(int count) {
    if (channel == null) {
      throw new VerbsException(VerbsError.INVALID, "acknowledge: the queue has no channel");
    }
    channel.acknowledge(this, count);
  }

  @Override
  public synchronized void resize(int newDepth) {
    Range.check(
        "resize completion queue", "depth", newDepth, 1, device.attributes().maxCompletions());
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "resize: the completion queue is closed");
    }
    device.requireWhole("resize completion queue");
    synchronized (growing) {
      long held = ring.held();
      if (held > newDepth) {
        throw new VerbsException(
            VerbsError.INVALID,
            "resize completion queue: depth: "
                + newDepth
                + " (expected: >= "
                + held
                + ", which it holds)");
      }
      depth = newDepth;
      ring.limit(newDepth);
    }
  }

  /** Attaches a queue pair; its completions carry the returned number. */
  synchronized int attach(EmulatedQueuePair pair) {
    if (closed) {
      throw new VerbsException(
          VerbsError.CLOSED, "create queue pair: a completion queue is closed");
    }
    int others = attached.size();
    if (others == MAX_ATTACHMENTS) {
      throw new VerbsException(
          VerbsError.NO_MEMORY,
          "queue pairs on one completion queue: "
              + others
              + " (expected: < "
              + MAX_ATTACHMENTS
              + ")");
    }
    EmulatedQueuePair first = shared ? null : attached.any();
    int attachment = attached.add(pair);
    if (first != null) {
      shareWith(first);
    }
    return attachment;
  }

  /** Makes producers claim by compare-and-set, and waits until the first producer sees that. */
  private void shareWith(EmulatedQueuePair first) {
    shared = true;
    first.awaitHandover();
  }

  synchronized void detach(int attachment) {
    attached.remove(attachment);
  }

  /**
   * Handles a lost completion: raises {@code CQ_ERR}, once until the program polls, and moves all
   * queue pairs that complete here to ERR.
   */
  public void overrun() {
    if (isNewOverrun()) {
      device.raise(AsyncEvent.Type.CQ_ERR, this);
    }
    attached.forEach(EmulatedQueuePair::failAfterLostCompletion);
  }

  /**
   * Returns whether this is the first overrun since the program last polled: an event for each lost
   * completion would leave no room for other events.
   */
  private boolean isNewOverrun() {
    synchronized (growing) {
      long head = ring.head();
      boolean anew = head != lastOverrunHead;
      lastOverrunHead = head;
      return anew;
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      EmulatedQueuePair user = attached.size() == 0 ? null : attached.any();
      if (user != null) {
        throw new VerbsException(
            VerbsError.BUSY, "close completion queue: queue pair " + user.number() + " uses it");
      }
      if (channel != null) {
        channel.forget(this);
      }
      closed = true;
    }
    device.closed(EmulatedDevice.Kind.COMPLETION_QUEUE);
  }
}
