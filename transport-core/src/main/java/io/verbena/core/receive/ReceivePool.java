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
 * The receives of all connections of a loop, in one shared receive queue. It has as many as {@link
 * ReceiveBudget} says: some for the next sender, more where many are busy, and those that busy
 * connections were granted. The loop posts one again whenever it has read one, and so knows at all
 * times how many are posted: it needs no event at a limit, which would come later and on another
 * thread. Where posts have a price it posts the receives of a duty cycle as linked lists, ahead of
 * the sends that give the peers credits for them. A receive that was posted cannot be withdrawn, so
 * the pool shrinks as receives are taken, and goes with its last connection.
 *
 * <p>Completions find their connection by the number of its queue pair; those of one that is gone
 * only give their frame back. Only on the loop.
 */
public final class ReceivePool implements LoopMember {
  private static final int FIRST_FRAMES = 16;

  /** The receives of a loop are at the most so many times those of a connection, */
  private static final int MOST_DEPTHS = 256;

  /** those of all loops take no more than the registered memory divided by this, */
  private static final int MEMORY_SHARE = 4;

  /** and hold what so many connections are promised at the least. */
  private static final int LEAST_PROMISES = 2;

  /** The time over which the receives of a connection are counted to see whether it is busy. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The receives that a busy connection takes in a period: more than a request now and then. */
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

  /** The receives that wait to be posted; null where each is posted at once. */
  private final @Nullable LinkedReceives linked;

  private final IntObjectHashMap<ReceiveShare> shares = new IntObjectHashMap<>();

  private @Nullable SharedReceiveQueue queue;
  private @Nullable Membership membership;

  /** Frames that are posted, or wait to be, by slot. */
  private @Nullable ByteBuf[] frames = new @Nullable ByteBuf[0];

  /** Slots without a frame, the one used last on top. */
  private int[] free = new int[0];

  private int freeCount;
  private int posted;
  private int target;
  private long promised;
  private int completions;
  private int period;
  private long periodBegan;

  /**
   * The queue pair whose receive completed last: that of a busy connection is found without the
   * map.
   */
  private int lastNumber;

  private @Nullable ReceiveShare last;

  /** A connection that takes receives from a pool. */
  public interface User {
    /**
     * Called on the loop when a receive of its queue pair has completed. Must not throw.
     *
     * @param frame belongs to the callee, also if the receive failed
     * @param completion belongs to the poller, which overwrites it after the call
     */
    void received(ByteBuf frame, WorkCompletion completion);

    /**
     * Called on the loop when the HCA has refused a receive whose frame was given back, after
     * {@link Receives#giveBack} has returned. Must not throw.
     */
    void receiveRefused(Throwable why);
  }

  /**
   * A pool without connections, which has nothing.
   *
   * @param queues of the loop
   * @param source makes the frames of the receives
   * @param bound the most receives, {@link #bound}
   * @param first receives that each connection may promise at all times
   * @param clock of the loop, in nanoseconds
   * @param posts of the loop, or null if each receive is to be posted at once
   * @param leftOpen gets what of the device cannot be closed
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
   * Returns the most receives that the pool of a loop may have, so that those of all loops take no
   * more than a quarter of the registered memory, unless there are few.
   *
   * @param loops the pools of the device
   * @param frameCapacity bytes of a receive
   * @param first receives that each connection may promise at all times
   * @return 0 if each connection needs receives of its own: the device has {@linkplain #fits no
   *     use} for a pool, or no shared receive queue that holds the least
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
   * Returns whether connections of a device can share receives: it has shared receive queues, and a
   * sender that finds no receive waits. On iWARP it is lost, and a pool promises more than it
   * posts.
   */
  public static boolean fits(DeviceAttributes device) {
    return device.supports(Capability.SHARED_RECEIVE_QUEUE)
        && device.maxSharedReceiveQueues() > 0
        && device.supports(Capability.REQUEST_STATUS);
  }

  // ---- connections

  /**
   * A connection is about to be made; its share is {@linkplain ReceiveShare#release released} when
   * its queue pair is gone.
   *
   * @throws VerbsException if the HCA cannot
   * @throws MemoryLimitException at the ceiling
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

  /** The target may be another. */
  private void changed() {
    int newTarget = budget.target();
    long newPromised = budget.promised();
    if (newTarget != target || newPromised != promised) {
      meter.receivePool(newTarget - target, newPromised - promised);
      target = newTarget;
      promised = newPromised;
    }
  }

  /** Closes the queue, to which no queue pair is attached. */
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
      // At the ceiling, or of an HCA that has failed, as its connections are about to learn.
      int missing = Math.min(granted - (posted - before), target - posted);
      budget.giveBack(missing, held + granted);
      changed();
      granted -= missing;
    } catch (Throwable e) {
      // The share does not count them, and so would not give them back.
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

  // ---- who is busy

  /** Returns a number that is another one in the next period. */
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

  /** A connection has taken {@link #BUSY} receives in this period. */
  void becameBusy() {
    if (!source.areScarce()) {
      // Whoever gives a frame back posts another with it, until there are as many.
      budget.becameBusy();
      changed();
    }
  }

  // ---- receives

  /** Posts what is missing at once, but so many at the most. */
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
   * Takes a frame that is not used, and posts it unless there are enough.
   *
   * @param giver called if the HCA refuses it later, or null
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
   * Posts a frame that busy connections need, or in place of one that was lost with its messages
   * when there was no memory for another.
   */
  private void topUp(@Nullable ReceiveShare giver) {
    ByteBuf frame;
    try {
      frame = source.allocate();
    } catch (RdmaException e) {
      // The next frame that comes back tries again.
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

  /** Posts what waits; throws nothing that has to do with it. */
  void post() {
    LinkedReceives list = linked;
    if (list == null || list.count() == 0) {
      return;
    }
    int count = list.count();
    try {
      list.post(queue());
    } catch (RuntimeException | Error e) {
      // A connection that hears of the refusal may give frames back, and so begin another list.
      for (ReceiveShare each : dropRefused(list, count, e)) {
        each.refused(e);
      }
    }
  }

  /**
   * Takes the requests of a posted list that the HCA has refused out of the list; returns the
   * connections that gave back their frames.
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
      giveBackOfNobody(frame);
    } else {
      share.arrived().received(frame, completion);
    }
  }

  private void giveBackOfNobody(ByteBuf frame) {
    try {
      giveBack(frame, null);
    } catch (VerbsException e) {
      // The connection that gives the next one back hears of the refusal. Completions of others may
      // stand behind this one.
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

  /** Its connections ask their peers. */
  @Override
  public boolean keepAlive() {
    return false;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The pool goes with its connections, which the loop shuts down too.
   */
  @Override
  public void shutDown(Throwable cause, boolean now) {}
}
