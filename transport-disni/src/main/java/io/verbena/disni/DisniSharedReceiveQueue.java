package io.verbena.disni;

import io.verbena.disni.Words.SharedReceiveWords;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/**
 * A shared receive queue. Its receives complete in any order, on any of the completion queues of
 * its queue pairs, so its free slots are a stack; the monitor guards it.
 */
final class DisniSharedReceiveQueue implements SharedReceiveQueue, SlotHolder {
  private final DisniProtectionDomain domain;
  private final long pointer;
  private final int maxWorkRequests;
  private final int maxScatterGather;
  private final int tag;
  private final long[] ids;
  private final int[] free;
  private int freeCount;
  private final ReceiveBatch batch;
  private int queuePairs;
  private volatile boolean datagrams;
  private boolean closed;

  DisniSharedReceiveQueue(DisniProtectionDomain domain, int maxWorkRequests, int maxScatterGather) {
    this.domain = domain;
    DisniContext context = domain.device().context();
    Block words =
        Block.of(SharedReceiveWords.values())
            .set(SharedReceiveWords.MAX_WR, maxWorkRequests)
            .set(SharedReceiveWords.MAX_SGE, maxScatterGather);
    pointer =
        Errno.check(
            "create shared receive queue",
            Extension.createSharedReceiveQueue(domain.pointer(), words.address()));
    this.maxWorkRequests = Math.max(maxWorkRequests, words.getInt(SharedReceiveWords.MAX_WR));
    this.maxScatterGather = Math.max(maxScatterGather, words.getInt(SharedReceiveWords.MAX_SGE));
    ids = new long[this.maxWorkRequests];
    free = new int[this.maxWorkRequests];
    for (int i = 0; i < free.length; i++) {
      free[i] = i;
    }
    freeCount = free.length;
    batch = new ReceiveBatch(this.maxScatterGather);
    tag = context.queues().reserve();
    context.queues().put(this);
    context.created(pointer, domain.device(), this);
  }

  long pointer() {
    return pointer;
  }

  DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public int maxWorkRequests() {
    return maxWorkRequests;
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
        "query shared receive queue", Extension.querySharedReceiveQueue(pointer, words.address()));
    return words.getInt(SharedReceiveWords.LIMIT);
  }

  @Override
  public synchronized void limit(int limit) {
    checkOpen("modify");
    if (limit < 0 || limit > maxWorkRequests) {
      throw new VerbsException(
          VerbsError.INVALID, "limit: " + limit + " (expected: 0.." + maxWorkRequests + ")");
    }
    Errno.check("limit shared receive queue", Extension.limitSharedReceiveQueue(pointer, limit));
  }

  private void checkOpen(String verb) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, verb + ": the shared receive queue is closed");
    }
  }

  @Override
  public synchronized void postReceive(ReceiveWorkRequest request) {
    for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
      post(next);
    }
  }

  private void post(ReceiveWorkRequest request) {
    if (closed) {
      throw new PostException(
          VerbsError.CLOSED, request.id(), "the shared receive queue is closed");
    }
    DisniQueuePair.checkEntries(request.id(), request.buffers().size(), maxScatterGather);
    if (freeCount == 0) {
      throw new PostException(
          VerbsError.NO_MEMORY,
          request.id(),
          "receives outstanding: " + maxWorkRequests + " (expected: < " + maxWorkRequests + ")");
    }
    int slot = free[freeCount - 1];
    batch.clear();
    batch.add(request, Cookie.receive(tag, slot));
    int refused = Extension.postSharedReceive(pointer, batch.address(), batch.badAddress());
    if (refused < 0) {
      throw DisniQueuePair.refused(request.id(), refused);
    }
    freeCount--;
    ids[slot] = request.id();
  }

  @Override
  public int tag() {
    return tag;
  }

  @Override
  public synchronized long free(boolean receive, int slot) {
    free[freeCount++] = slot;
    return ids[slot];
  }

  /** One of its queue pairs failed; the shared queue did not. */
  @Override
  public void failed() {}

  @Override
  public boolean isOfDatagrams() {
    return datagrams;
  }

  synchronized void attach(QueuePairType type) {
    checkOpen("create queue pair");
    datagrams = type == QueuePairType.UD;
    queuePairs++;
  }

  synchronized void detach() {
    queuePairs--;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (queuePairs > 0) {
      throw new VerbsException(
          VerbsError.BUSY, "close shared receive queue: " + queuePairs + " queue pairs use it");
    }
    closed = true;
    DisniContext context = domain.device().context();
    context.destroyed(pointer);
    context.queues().remove(tag);
    Errno.check("destroy shared receive queue", Extension.destroySharedReceiveQueue(pointer));
    domain.closed(DisniProtectionDomain.Kind.SHARED_RECEIVE_QUEUE);
  }
}
