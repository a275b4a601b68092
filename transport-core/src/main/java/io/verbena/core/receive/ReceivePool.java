// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.util.collection.IntObjectHashMap;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.Membership;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The receives of all connections of a loop, in one shared receive queue. {@link ReceiveBudget}
 * sets their number: some for the next sender, more if many connections are busy, and those that
 * were granted to busy connections. The loop posts a receive again after reading it, and so always
 * knows how many are posted. It needs no event at a limit, which would come later and on another
 * thread. If posts are costly, the pool posts the receives of a duty cycle as linked lists, before
 * the sends that give the peers credits for them. A posted receive cannot be withdrawn, so the pool
 * shrinks as receives are taken; it closes with its last connection.
 *
 * <p>The queue pair number of a completion names its connection. If that connection is gone, the
 * completion's frame returns to the pool. Only on the loop.
 */
public final class ReceivePool implements LoopMember {
  private static final int FIRST_FRAMES = 16;

  /** The most receives of a loop, as a multiple of a connection's. */
  private static final int MOST_DEPTHS = 256;

  /** The receives of all loops take at most the limit on registered memory divided by this. */
  private static final int MEMORY_SHARE = 4;

  /** A pool holds at least the receives that are promised to so many connections. */
  private static final int LEAST_PROMISES = 2;

  /** The time over which the receives of a connection are counted to see whether it is busy. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The receives in a period that make a connection busy; a request now and then does not. */
  static final int BUSY = 2;

  /** The clock is read once in 64 completions. */
  private static final int CLOCK_MASK = 63;

  private final CompletionQueues<? super ReceivePool> queues;
  private final ProtectionDomain domain;
  private final ReceiveFrames source;
  private final HcaMeter meter;
  private final CloseSteps leftOpen;
  private final ReceiveBudget budget;
  private final LongSupplier clock;
  private final ReceiveWorkRequest single = new ReceiveWorkRequest();

  /** The receives that wait to be posted; null if each is posted at once. */
  private final @Nullable LinkedReceives linked;

  private final IntObjectHashMap<ReceiveShare> shares = new IntObjectHashMap<>();

  private @Nullable SharedReceiveQueue queue;
  private @Nullable Membership membership;

  /** Frames that are posted, or wait to be, by slot. */
  private @Nullable ByteBuf[] frames = new @Nullable ByteBuf[0];

  /** Slots without a frame; the one used last is on top. */
  private int[] free = new int[0];

  private int freeCount;
  private int posted;
  private int target;
  private long promised;
  private int completions;
  private int period;
  private long periodBegan;

  /**
   * The queue pair whose receive completed last, so that a busy connection is found without the
   * map.
   */
  private int lastNumber;

  private @Nullable ReceiveShare last;

  /** A connection that takes receives from a pool. */
  public interface User {
    /**
     * Called on the loop when a receive of the user's queue pair has completed. Must not throw.
     *
     * @param frame the received frame, which belongs to the callee, also if the receive failed
     * @param completion belongs to the poller, which overwrites it after the call
     */
    void received(ByteBuf frame, WorkCompletion completion);

    /**
     * Called on the loop when the HCA has refused a receive whose frame this user gave back; {@link
     * Receives#giveBack} has returned by then. Must not throw.
     */
    void receiveRefused(Throwable why);
  }

  /**
   * An empty pool, without connections.
   *
   * @param queues the completion queues of the loop
   * @param domain the protection domain of the shared receive queue
   * @param source makes the frames of the receives
   * @param bound the most receives, see {@link #bound}
   * @param first the receives that each connection may promise at all times
   * @param clock the clock of the loop, in nanoseconds
   * @param posts the linked posts of the loop, or null if each receive is to be posted at once
   * @param leftOpen gets the objects of the device that cannot be closed
   */
  public ReceivePool(
      CompletionQueues<? super ReceivePool> queues,
      ProtectionDomain domain,
      ReceiveFrames source,
      int bound,
      int first,
      LongSupplier clock,
      @Nullable LinkedPosts posts,
      HcaMeter meter,
      CloseSteps leftOpen) {
    this.queues = queues;
    this.clock = clock;
    this.domain = domain;
    this.source = source;
    this.meter = meter;
    this.leftOpen = leftOpen;
    budget = new ReceiveBudget(bound, first);
    if (posts == null) {
      linked = null;
    } else {
      linked = new LinkedReceives();
      posts.beginWith(this::post);
    }
  }

  /**
   * Returns the most receives that the pool of a loop may have: those of all loops take at most a
   * quarter of the limit on registered memory, but each pool has a minimum.
   *
   * @param loops the number of pools of the device
   * @param frameCapacity the length of a receive, in bytes
   * @param first the receives that each connection may promise at all times
   * @return the most receives; 0 if each connection needs receives of its own, because the device
   *     does not {@linkplain #fits fit} a pool, or its shared receive queues hold less than the
   *     minimum
   */
  public static int bound(
      DeviceAttributes device, RdmaOptions options, int loops, int frameCapacity, int first) {
    if (!fits(device)) {
      return 0;
    }
    int least = LEAST_PROMISES * first;
    long fits = options.maxRegisteredBytes() / MEMORY_SHARE / loops / frameCapacity;
    long wanted = Math.min((long) MOST_DEPTHS * options.receiveDepth(), fits);
    int most = Math.min(device.maxSharedReceiveRequests(), device.maxCompletions() / 2);
    int bound = (int) Math.min(Math.max(wanted, least), most);
    return bound < least ? 0 : bound;
  }

  /**
   * Returns whether connections of a device can share receives: the device has shared receive
   * queues, and a sender that finds no receive waits. A pool promises more receives than it posts;
   * on iWARP a connection whose message finds no receive is lost.
   */
  public static boolean fits(DeviceAttributes device) {
    return device.supports(Capability.SHARED_RECEIVE_QUEUE)
        && device.maxSharedReceiveQueues() > 0
        && device.supports(Capability.REQUEST_STATUS);
  }

  // ---- connections

  /**
   * Returns the share of a new connection, which is {@linkplain ReceiveShare#release released} when
   * its queue pair is gone.
   *
   * @throws VerbsException if the HCA refuses
   * @throws MemoryLimitException if the limit on registered memory is reached
   */
  public ReceiveShare join() {
    budget.join();
    try {
      if (queue == null) {
        open();
      }
      changed();
      fill(budget.first());
    } catch (Throwable e) {
      try {
        leave(ReceiveShare.NO_NUMBER, 0);
      } catch (Throwable also) {
        e.addSuppressed(also);
      }
      throw e;
    }
    return new ReceiveShare(this);
  }

  private void open() {
    Membership joined = queues.join(this, budget.bound());
    try {
      queue = domain.createSharedReceiveQueue(budget.bound(), 1);
      membership = joined;
    } catch (Throwable e) {
      queues.leave(joined);
      throw e;
    }
  }

  SharedReceiveQueue queue() {
    return requireNonNull(queue, "no connection");
  }

  CompletionQueue completionQueue() {
    return requireNonNull(membership, "no connection").queue();
  }

  void serve(int number, ReceiveShare share) {
    shares.put(number, share);
  }

  void leave(int number, int extra) {
    shares.remove(number);
    last = null;
    budget.giveBack(extra, extra);
    budget.leave();
    changed();
    if (budget.connections() == 0) {
      close();
    }
  }

  /** Reports the target and the promised receives to the meter if they have changed. */
  private void changed() {
    int newTarget = budget.target();
    long newPromised = budget.promised();
    if (newTarget != target || newPromised != promised) {
      meter.receivePool(newTarget - target, newPromised - promised);
      target = newTarget;
      promised = newPromised;
    }
  }

  /** Closes the queue, which no queue pair uses any more. */
  private void close() {
    SharedReceiveQueue gone = queue;
    Membership left = membership;
    queue = null;
    membership = null;
    try {
      if (gone != null) {
        try {
          gone.close();
        } catch (RuntimeException | Error e) {
          leftOpen.add("shared receive queue", gone::close);
          throw e;
        }
      }
    } finally {
      releaseFrames();
      if (left != null) {
        queues.leave(left);
      }
    }
  }

  private void releaseFrames() {
    @Nullable ByteBuf[] gone = frames;
    frames = new @Nullable ByteBuf[0];
    free = new int[0];
    freeCount = 0;
    posted = 0;
    if (linked != null) {
      linked.clear();
    }
    for (ByteBuf frame : gone) {
      if (frame != null) {
        frame.release();
      }
    }
  }

  // ---- shares

  int grow(int wanted, int held) {
    int granted = budget.grant(wanted, held);
    if (granted <= 0) {
      return 0;
    }
    budget.take(granted, held);
    changed();
    int before = posted;
    try {
      fill(granted);
    } catch (RdmaException e) {
      // The limit is reached, or the HCA has failed, which its connections learn soon.
      int missing = Math.min(granted - (posted - before), target - posted);
      budget.giveBack(missing, held + granted);
      changed();
      granted -= missing;
    } catch (Throwable e) {
      // The share does not count these receives, and so would not give them back.
      budget.giveBack(granted, held + granted);
      changed();
      throw e;
    }
    return granted;
  }

  void shrink(int count, int held) {
    budget.giveBack(count, held);
    changed();
  }

  boolean hasMoreThanItsPart(int held) {
    return budget.hasMoreThanItsPart(held);
  }

  // ---- busy connections

  /** Returns the number of the current period. */
  int period() {
    return period;
  }

  private void readClock() {
    long now = clock.getAsLong();
    if (period == 0 || now - periodBegan >= PERIOD_NANOS) {
      periodBegan = now;
      period++;
      budget.beginPeriod();
      changed();
    }
  }

  /** Called when a connection has taken {@link #BUSY} receives in this period. */
  void becameBusy() {
    if (!source.areScarce()) {
      // Each frame that is given back posts one more, until the new target is reached.
      budget.becameBusy();
      changed();
    }
  }

  // ---- receives

  /** Posts missing receives at once, at most this many. */
  private void fill(int most) {
    post();
    int end = Math.min(target, posted + most);
    while (posted < end) {
      post(source.allocate(), null);
      if (linked != null && (linked.isFull() || posted == end)) {
        int count = linked.count();
        try {
          linked.post(queue());
        } catch (RuntimeException | Error e) {
          dropRefused(linked, count, e);
          throw e;
        }
      }
    }
  }

  /**
   * Takes a frame back, and posts it unless enough receives are posted.
   *
   * @param giver the connection to call if the HCA refuses the frame later, or null
   */
  void giveBack(ByteBuf frame, @Nullable ReceiveShare giver) {
    if (posted >= target) {
      frame.release();
      return;
    }
    post(frame, giver);
    if (posted < target && !source.areScarce()) {
      topUp(giver);
    }
  }

  /**
   * Posts one frame more, for busy connections, or in place of a frame that left with its message
   * when there was no memory for another.
   */
  private void topUp(@Nullable ReceiveShare giver) {
    ByteBuf frame;
    try {
      frame = source.allocate();
    } catch (RdmaException e) {
      // The next frame that is given back tries again.
      return;
    }
    post(frame, giver);
  }

  private void post(ByteBuf frame, @Nullable ReceiveShare giver) {
    LinkedReceives list = linked;
    if (list != null && list.isFull()) {
      post();
    }
    int slot = nextSlot();
    try {
      frames[slot] = frame;
      long id = WorkRequestId.receive(requireNonNull(membership).prefix(), slot);
      if (list == null) {
        queue().postReceive(source.describe(frame, id, single));
      } else {
        source.describe(frame, id, list.next());
        list.add(giver);
      }
      posted++;
    } catch (Throwable e) {
      free(slot).release();
      throw e;
    }
  }

  private ByteBuf free(int slot) {
    ByteBuf frame = frames[slot];
    if (frame == null) {
      throw new IllegalStateException("receive " + slot + " is not posted");
    }
    frames[slot] = null;
    free[freeCount++] = slot;
    return frame;
  }

  /**
   * Posts the waiting receives; reports refusals to the connections that gave the frames back, and
   * does not throw them.
   */
  void post() {
    LinkedReceives list = linked;
    if (list == null || list.count() == 0) {
      return;
    }
    int count = list.count();
    try {
      list.post(queue());
    } catch (RuntimeException | Error e) {
      // A connection that learns of the refusal may give frames back, and so begin another list.
      for (ReceiveShare each : dropRefused(list, count, e)) {
        each.refused(e);
      }
    }
  }

  /**
   * Releases the frames of the requests of a posted list that the HCA has refused; returns the
   * connections that gave these frames back.
   */
  private List<ReceiveShare> dropRefused(LinkedReceives list, int count, Throwable why) {
    List<ReceiveShare> givers = new ArrayList<>();
    for (int i = list.firstRefused(count, why); i < count; i++) {
      free(WorkRequestId.sequence(list.id(i))).release();
      posted--;
      ReceiveShare giver = list.giver(i);
      if (giver != null && !givers.contains(giver)) {
        givers.add(giver);
      }
    }
    list.clear();
    return givers;
  }

  private int nextSlot() {
    if (freeCount == 0) {
      int length = frames.length;
      int more = Math.max(FIRST_FRAMES, 2 * length);
      frames = Arrays.copyOf(frames, more);
      free = Arrays.copyOf(free, more);
      for (int slot = more - 1; slot >= length; slot--) {
        free[freeCount++] = slot;
      }
    }
    return free[--freeCount];
  }

  @Override
  public void completed(WorkCompletion completion) {
    if ((++completions & CLOCK_MASK) == 0) {
      readClock();
    }
    ByteBuf frame = free(WorkRequestId.sequence(completion.workRequestId()));
    posted--;
    ReceiveShare share = share(completion.queuePairNumber());
    if (share == null) {
      giveBackUnclaimed(frame);
    } else {
      share.arrived().received(frame, completion);
    }
  }

  private void giveBackUnclaimed(ByteBuf frame) {
    try {
      giveBack(frame, null);
    } catch (VerbsException e) {
      // The connection that gives the next frame back learns of the refusal. Does not throw, as
      // completions of other connections may follow this one.
      return;
    }
  }

  private @Nullable ReceiveShare share(int number) {
    ReceiveShare found = last;
    if (found == null || number != lastNumber) {
      found = shares.get(number);
      last = found;
      lastNumber = number;
    }
    return found;
  }

  // ---- the loop

  /**
   * {@inheritDoc}
   *
   * <p>Does nothing: the connections probe their peers.
   */
  @Override
  public boolean keepAlive() {
    return false;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Does nothing: the pool closes with its last connection, and the loop shuts connections down.
   */
  @Override
  public void shutDown(Throwable cause, boolean now) {}
}
