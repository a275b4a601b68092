// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.provider.Range;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue ({@code ibv_create_cq(3)}). {@link #poll} polls {@code struct ibv_wc} in
 * batches into native memory and reads their fields in Java.
 */
final class DisniCompletionQueue implements CompletionQueue {
  private static final String DESTROY = "destroy completion queue";
  private static final int BATCH = 64;
  private static final int NONE = -1;
  private static final int WC_GRH = 1;
  private static final int WC_WITH_IMM = 1 << 1;
  private static final int WC_WITH_INV = 1 << 3;

  private final DisniDevice device;
  private final RdmaCore core;
  private final @Nullable DisniCompletionChannel channel;
  private final SlotHolders queues;
  private final long pointer;
  private final Block batch = new Block(BATCH * Layout.WC_SIZE);
  private volatile int depth;
  private int queuePairs;
  private int unacknowledged;

  /**
   * Completions that were polled from the HCA but not yet returned to the program, oldest first.
   */
  private final ArrayDeque<ByteBuffer> kept = new ArrayDeque<>();

  /** Whether the program has closed it; the HCA may still refuse to destroy it. */
  private boolean closed;

  private boolean destroyed;

  private DisniCompletionQueue(
      DisniDevice device, long pointer, int depth, @Nullable DisniCompletionChannel channel) {
    this.device = device;
    core = device.core();
    this.channel = channel;
    this.pointer = pointer;
    this.depth = depth;
    queues = device.context().queues();
  }

  static DisniCompletionQueue create(
      DisniDevice device,
      int depth,
      @Nullable DisniCompletionChannel channel,
      boolean singleThreaded) {
    if (channel != null) {
      return channel.attach(() -> make(device, depth, channel, singleThreaded));
    }
    return make(device, depth, null, singleThreaded);
  }

  private static DisniCompletionQueue make(
      DisniDevice device,
      int depth,
      @Nullable DisniCompletionChannel channel,
      boolean singleThreaded) {
    Block granted = new Block(Long.BYTES);
    long context = device.context().pointer();
    long pointer =
        Errno.check(
            "create completion queue",
            device
                .core()
                .createCompletionQueue(
                    context,
                    depth,
                    channel == null ? 0 : channel.pointer(),
                    // Without a channel the vector is not used.
                    channel == null ? 0 : channel.vector(),
                    singleThreaded,
                    granted.address()));
    return NativeObject.own(
        DESTROY,
        pointer,
        made -> {
          if (channel != null) {
            // Without a channel it raises no events.
            device.moderate(made);
          }
          int got = (int) granted.bytes().getLong(0);
          DisniCompletionQueue queue = new DisniCompletionQueue(device, made, got, channel);
          device.context().created(made, device, queue);
          return queue;
        },
        device.core()::destroyCompletionQueue);
  }

  DisniDevice device() {
    return device;
  }

  long pointer() {
    return pointer;
  }

  @Override
  public int depth() {
    return depth;
  }

  @Override
  public @Nullable DisniCompletionChannel channel() {
    return channel;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The monitor guards the batch, and keeps the queue from being destroyed while a thread polls
   * it. If only one thread polls, the monitor costs a compare-and-set.
   */
  @Override
  public synchronized int poll(WorkCompletion[] completions) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "poll: the completion queue is closed");
    }
    int count = kept.isEmpty() ? 0 : pollKept(completions);
    while (count < completions.length) {
      int room = Math.min(BATCH, completions.length - count);
      int polled = core.poll(pointer, room, batch.address());
      if (polled < 0 && count > 0) {
        // Returns the completions polled so far; if the failure lasts, the next call reports it.
        break;
      }
      if (polled < 0) {
        throw Errno.failure("poll", polled);
      }
      for (int i = 0; i < polled; i++) {
        if (read(batch.bytes(), i * Layout.WC_SIZE, completions[count])) {
          count++;
        }
      }
      if (polled < room) {
        break;
      }
    }
    return count;
  }

  private int pollKept(WorkCompletion[] completions) {
    int count = 0;
    for (ByteBuffer next = kept.peek();
        next != null && count < completions.length;
        next = kept.peek()) {
      kept.remove();
      if (read(next, 0, completions[count])) {
        count++;
      }
    }
    return count;
  }

  /**
   * Drops the completions of a queue pair that is destroyed or was reset, and frees their slots,
   * because a shared receive queue outlives the queue pair. Keeps all other completions.
   */
  synchronized void purge(int queuePair) {
    for (Iterator<ByteBuffer> earlier = kept.iterator(); earlier.hasNext(); ) {
      if (isFreed(earlier.next(), 0, queuePair)) {
        earlier.remove();
      }
    }
    keepWithout(queuePair);
  }

  /**
   * Moves all completions from the HCA to {@link #kept}, except those of this queue pair, which it
   * frees.
   */
  private void keepWithout(int queuePair) {
    int polled;
    do {
      polled = core.poll(pointer, BATCH, batch.address());
      for (int i = 0; i < polled; i++) {
        int at = i * Layout.WC_SIZE;
        if (!isFreed(batch.bytes(), at, queuePair)) {
          ByteBuffer copy = ByteBuffer.allocate(Layout.WC_SIZE).order(batch.bytes().order());
          kept.add(copy.put(0, batch.bytes(), at, Layout.WC_SIZE));
        }
      }
    } while (polled == BATCH);
  }

  /**
   * Adds a completion with WR_FLUSH_ERR for a request that the HCA never completes, after all
   * completions that the HCA has made.
   *
   * @param queuePair the number of the queue pair that has the request
   */
  void flush(long cookie, int queuePair) {
    synchronized (this) {
      keepWithout(NONE);
      keepFlushed(cookie, queuePair);
    }
    if (channel != null) {
      // The HCA raises no event for this completion, so wake the thread that waits for one.
      channel.wakeup();
    }
  }

  private void keepFlushed(long cookie, int queuePair) {
    ByteBuffer completion = ByteBuffer.allocate(Layout.WC_SIZE).order(batch.bytes().order());
    completion.putLong(Layout.WC_WR_ID, cookie);
    completion.putLong(Layout.WC_STATUS, Block.pair(CompletionStatus.WR_FLUSH_ERR.code(), 0));
    completion.putLong(Layout.WC_IMM_OR_KEY, Block.pair(0, queuePair));
    kept.add(completion);
  }

  /**
   * Adds completions with WR_FLUSH_ERR for all requests outstanding in a queue, once the HCA no
   * longer completes requests of this queue. The caller holds the lock for posting to the queue.
   *
   * @param first the cookie of the queue's sequence number 0
   * @param queuePair the number of the queue pair that has the queue
   */
  void flushRest(Slots slots, long first, int queuePair) {
    synchronized (this) {
      keepWithout(NONE);
      long next = slots.freed();
      for (ByteBuffer each : kept) {
        long cookie = each.getLong(Layout.WC_WR_ID);
        if (Cookie.isOfSameQueue(cookie, first)) {
          next = slots.position(Cookie.sequence(cookie)) + 1;
        }
      }
      for (; next < slots.posted(); next++) {
        if (slots.completes(next)) {
          keepFlushed(Cookie.at(first, (int) next), queuePair);
        }
      }
    }
    if (channel != null) {
      channel.wakeup();
    }
  }

  /** Frees the slot of a completion if it belongs to this queue pair; returns whether it does. */
  private boolean isFreed(ByteBuffer bytes, int at, int queuePair) {
    if (Block.second(bytes.getLong(at + Layout.WC_IMM_OR_KEY)) != queuePair) {
      return false;
    }
    long cookie = bytes.getLong(at + Layout.WC_WR_ID);
    SlotHolder queue = queues.find(Cookie.tagOf(cookie));
    if (queue != null) {
      queue.free(Cookie.isReceive(cookie), Cookie.sequence(cookie), queuePair);
    }
    return true;
  }

  /** Reads a completion and frees its slot; returns false if its queue is closed or was reset. */
  private boolean read(ByteBuffer bytes, int at, WorkCompletion completion) {
    long cookie = bytes.getLong(at + Layout.WC_WR_ID);
    SlotHolder queue = queues.find(Cookie.tagOf(cookie));
    if (queue == null) {
      return false;
    }
    long immediateAndNumber = bytes.getLong(at + Layout.WC_IMM_OR_KEY);
    int number = Block.second(immediateAndNumber);
    long id = queue.free(Cookie.isReceive(cookie), Cookie.sequence(cookie), number);
    // Two 32-bit fields per read: until C2 has compiled it, each read of a buffer is several calls.
    long statusAndOpcode = bytes.getLong(at + Layout.WC_STATUS);
    long vendorAndLength = bytes.getLong(at + Layout.WC_VENDOR_ERR);
    int status = Block.first(statusAndOpcode);
    if (status != 0) {
      completion.setError(id, CompletionStatus.of(status), Block.first(vendorAndLength), number);
      queue.failed();
      return true;
    }
    long sourceAndFlags = bytes.getLong(at + Layout.WC_SRC_QP);
    // Some drivers fill in the UD fields for other transports too.
    boolean datagram = queue.isOfDatagrams(number);
    int flags = Block.second(sourceAndFlags);
    int immediateOrKey = Block.first(immediateAndNumber);
    completion.set(
        id,
        CompletionOpcode.of(Block.second(statusAndOpcode)),
        Block.second(vendorAndLength),
        (flags & WC_WITH_IMM) != 0 ? SendBatch.networkOrder(immediateOrKey) : immediateOrKey,
        number,
        datagram ? Block.first(sourceAndFlags) : 0,
        ((flags & WC_WITH_IMM) != 0 ? WorkCompletion.WITH_IMM : 0)
            | (datagram && (flags & WC_GRH) != 0 ? WorkCompletion.GRH : 0)
            | ((flags & WC_WITH_INV) != 0 ? WorkCompletion.WITH_INV : 0));
    if (datagram && queue.isOnInfiniBand()) {
      completion.setSource(
          Short.toUnsignedInt(bytes.getShort(at + Layout.WC_SLID)), bytes.get(at + Layout.WC_SL));
    }
    return true;
  }

  @Override
  public synchronized void arm(boolean solicitedOnly) {
    if (channel == null) {
      throw new VerbsException(VerbsError.INVALID, "arm: the completion queue has no channel");
    }
    checkOpen("arm");
    Errno.check("arm", core.arm(pointer, solicitedOnly));
  }

  synchronized void eventCame() {
    unacknowledged++;
  }

  @Override
  public synchronized void acknowledgeEvents(int count) {
    if (channel == null) {
      throw new VerbsException(VerbsError.INVALID, "acknowledge: the queue has no channel");
    }
    if (count < 0 || count > unacknowledged) {
      throw new VerbsException(
          VerbsError.INVALID, "acknowledge: " + count + " (expected: 0.." + unacknowledged + ")");
    }
    if (count > 0) {
      Errno.check("acknowledge", core.acknowledge(pointer, count));
      unacknowledged -= count;
    }
  }

  @Override
  public synchronized void resize(int newDepth) {
    device.attributes().require(Capability.COMPLETION_QUEUE_RESIZE);
    checkOpen("resize");
    Range.check("resize", "depth", newDepth, 1, device.attributes().maxCompletions());
    depth = Errno.check("resize", core.resizeCompletionQueue(pointer, newDepth));
  }

  private void checkOpen(String verb) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, verb + ": the completion queue is closed");
    }
  }

  /** Counts a queue pair that uses this queue. */
  synchronized void attach() {
    if (closed) {
      throw new VerbsException(
          VerbsError.CLOSED, "create queue pair: a completion queue is closed");
    }
    queuePairs++;
  }

  synchronized void detach() {
    queuePairs--;
  }

  /**
   * Waits until the thread that polls now, if any, has left the monitor: from then on no thread
   * frees a slot of a queue that it found before this call.
   */
  void awaitPoller() {
    Monitors.awaitHolder(this);
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the HCA refuses to destroy the queue, it returns no more completions, and {@code close}
   * can be called again.
   */
  @Override
  public void close() {
    if (channel == null) {
      destroy();
    } else {
      channel.detach(this, this::destroy);
    }
  }

  private synchronized void destroy() {
    if (destroyed) {
      return;
    }
    if (queuePairs > 0) {
      throw new VerbsException(
          VerbsError.BUSY, "close completion queue: " + queuePairs + " queue pairs use it");
    }
    if (unacknowledged > 0) {
      throw new VerbsException(
          VerbsError.BUSY,
          "close completion queue: " + unacknowledged + " events not acknowledged");
    }
    if (!closed) {
      closed = true;
      device.context().destroyed(pointer);
    }
    Errno.check(DESTROY, core.destroyCompletionQueue(pointer));
    destroyed = true;
    device.closed(DisniDevice.Kind.COMPLETION_QUEUE);
  }
}
