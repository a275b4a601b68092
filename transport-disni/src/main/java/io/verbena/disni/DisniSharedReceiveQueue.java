// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.SharedReceiveWords;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue ({@code ibv_create_srq(3)}). Its receives complete in any order, in the
 * completion queues of any of its queue pairs. Its monitor guards its slots.
 */
final class DisniSharedReceiveQueue extends SlotHolder implements SharedReceiveQueue {
  private static final String DESTROY = "destroy shared receive queue";

  private final DisniProtectionDomain domain;
  private final RdmaCore core;
  private final long pointer;
  private final int maxScatterGather;
  private final SharedSlots slots;
  private final ReceiveBatch batch;
  private int queuePairs;

  /** Whether the program has closed it; the HCA may still refuse to destroy it. */
  private boolean closed;

  private boolean destroyed;

  private DisniSharedReceiveQueue(
      DisniProtectionDomain domain, long pointer, int maxWorkRequests, int maxScatterGather) {
    this.domain = domain;
    core = domain.device().core();
    this.pointer = pointer;
    this.maxScatterGather = maxScatterGather;
    slots = new SharedSlots(maxWorkRequests);
    batch =
        new ReceiveBatch(
            maxScatterGather, domain.device().context().quirks().tripsOverEmptyBuffers());
    DisniContext context = domain.device().context();
    tag(context.queues().reserve());
    context.queues().put(this);
    context.created(pointer, domain.device(), this);
  }

  /** Creates a shared receive queue; the driver may grant more than asked for. */
  static DisniSharedReceiveQueue create(
      DisniProtectionDomain domain, int maxWorkRequests, int maxScatterGather) {
    Block words =
        Block.of(SharedReceiveWords.values())
            .set(SharedReceiveWords.MAX_WR, maxWorkRequests)
            .set(SharedReceiveWords.MAX_SGE, maxScatterGather);
    long pointer =
        Errno.check(
            "create shared receive queue",
            domain.device().core().createSharedReceiveQueue(domain.pointer(), words.address()));
    return NativeObject.own(
        DESTROY,
        pointer,
        made ->
            new DisniSharedReceiveQueue(
                domain,
                made,
                Math.max(maxWorkRequests, words.getInt(SharedReceiveWords.MAX_WR)),
                Math.max(maxScatterGather, words.getInt(SharedReceiveWords.MAX_SGE))),
        domain.device().core()::destroySharedReceiveQueue);
  }

  long pointer() {
    return pointer;
  }

  DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public int maxWorkRequests() {
    return slots.capacity();
  }

  @Override
  public int maxScatterGather() {
    return maxScatterGather;
  }

  @Override
  public synchronized int limit() {
    checkOpen("query");
    Block words = Block.of(SharedReceiveWords.values());
    Errno.check(
        "query shared receive queue",
        domain.device().core().querySharedReceiveQueue(pointer, words.address()));
    return words.getInt(SharedReceiveWords.LIMIT);
  }

  @Override
  public synchronized void limit(int limit) {
    checkOpen("modify");
    if (limit < 0 || limit > slots.capacity()) {
      throw new VerbsException(
          VerbsError.INVALID, "limit: " + limit + " (expected: 0.." + slots.capacity() + ")");
    }
    Errno.check(
        "limit shared receive queue",
        domain.device().core().limitSharedReceiveQueue(pointer, limit));
  }

  private void checkOpen(String verb) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, verb + ": the shared receive queue is closed");
    }
  }

  @Override
  public synchronized void postReceive(ReceiveWorkRequest request) {
    if (closed) {
      throw PostErrors.closed(request.id(), "the shared receive queue");
    }
    Chain chain = batch.chain();
    ReceiveWorkRequest next = request;
    while (next != null) {
      chain.clear();
      PostException refusal = refuse(next);
      while (next != null && refusal == null && !chain.isFull() && slots.hasFree()) {
        batch.add(next, Cookie.receive(tag(), slots.take(next.id())));
        next = next.next();
        refusal = next == null ? null : refuseEntries(next);
      }
      if (chain.count() > 0) {
        post(chain);
      }
      if (refusal != null) {
        throw refusal;
      }
    }
  }

  private @Nullable PostException refuse(ReceiveWorkRequest request) {
    PostException refusal = refuseEntries(request);
    return refusal == null && slots.isFull()
        ? PostErrors.full(request.id(), "receives", slots.capacity())
        : refusal;
  }

  private @Nullable PostException refuseEntries(ReceiveWorkRequest request) {
    return PostErrors.ofEntries(request.id(), request.buffers().size(), maxScatterGather);
  }

  private void post(Chain chain) {
    int refused = core.postSharedReceive(pointer, chain.address(), chain.badAddress());
    if (refused < 0) {
      throw PostErrors.byDriver(slots.giveBack(chain.notPosted()), refused);
    }
  }

  @Override
  synchronized long free(boolean receive, int slot, int queuePair) {
    return slots.free(slot, queuePair);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Does nothing: a queue pair failed, which does not affect the shared receive queue.
   */
  @Override
  void failed() {}

  synchronized void attach(QueuePairType type) {
    checkOpen("create queue pair");
    if (type == QueuePairType.UD) {
      noteDatagrams(domain.device().at());
    }
    queuePairs++;
  }

  /** Registers an attached queue pair under its number, once it is created. */
  synchronized SharedSlots.Taker join(int queuePair, QueuePairType type) {
    return slots.join(queuePair, type == QueuePairType.UD);
  }

  @Override
  synchronized boolean takesDatagrams(int queuePair) {
    return slots.takesDatagrams(queuePair);
  }

  /** Records that a queue pair was reset and none of its completions is left. */
  synchronized void emptied(SharedSlots.Taker taker) {
    slots.emptied(taker);
  }

  /** Removes a queue pair that is destroyed, when none of its completions is left. */
  synchronized void leave(SharedSlots.Taker taker) {
    slots.leave(taker);
  }

  synchronized void detach() {
    queuePairs--;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the HCA refuses to destroy the queue, it takes no more receives, and {@code close} can be
   * called again.
   */
  @Override
  public synchronized void close() {
    if (destroyed) {
      return;
    }
    if (queuePairs > 0) {
      throw new VerbsException(
          VerbsError.BUSY, "close shared receive queue: " + queuePairs + " queue pairs use it");
    }
    if (!closed) {
      closed = true;
      DisniContext context = domain.device().context();
      context.destroyed(pointer);
      context.queues().remove(tag());
    }
    Errno.check(DESTROY, domain.device().core().destroySharedReceiveQueue(pointer));
    destroyed = true;
    domain.closed(DisniProtectionDomain.Kind.SHARED_RECEIVE_QUEUE);
  }
}
