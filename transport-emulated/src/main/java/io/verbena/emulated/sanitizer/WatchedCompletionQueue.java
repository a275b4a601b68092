// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the sanitizer knows of one completion queue: the number of completions to come, and the
 * requests of closed or reset queues whose completions may still be in the completion queue.
 */
final class WatchedCompletionQueue {
  private final WatchedDevice device;
  private final CallSite created;
  private final AtomicInteger awaited = new AtomicInteger();

  /**
   * Requests of queues that were closed or reset: each was completed before that, or never will be.
   */
  private final List<Posted> orphans = new ArrayList<>();

  private final AtomicInteger attached = new AtomicInteger();
  private volatile int depth;
  private boolean closed;

  WatchedCompletionQueue(WatchedDevice device, CallSite created, int depth) {
    this.device = device;
    this.created = created;
    this.depth = depth;
  }

  void depth(int value) {
    depth = value;
  }

  void attach() {
    attached.incrementAndGet();
  }

  void detach() {
    attached.decrementAndGet();
  }

  boolean hasQueuePairs() {
    return attached.get() > 0;
  }

  /** Notes a posted request whose completion will come to this queue. */
  void await(Posted request) {
    request.awaitedBy = this;
    awaited.incrementAndGet();
  }

  static void arrived(Posted request) {
    WatchedCompletionQueue queue = request.awaitedBy;
    if (queue != null) {
      request.awaitedBy = null;
      queue.awaited.decrementAndGet();
    }
  }

  /**
   * Reports a finding if more completions are to come than the queue holds; called after each post.
   */
  void check(CallSite post, Report report) {
    int now = awaited.get();
    if (now > depth) {
      report.add(
          Finding.at(
              Finding.Kind.COMPLETION_QUEUE_TOO_SMALL,
              post,
              "completions to come: " + now + " (expected: <= " + depth + ", the queue's depth)",
              "the completion queue was created",
              created));
    }
  }

  /**
   * Notes requests of a closed or reset queue, whose completions may be in this completion queue.
   */
  void orphan(List<Posted> requests) {
    orphan(requests, List.of(this));
  }

  /**
   * Notes requests of a closed or reset queue, whose completions may be in any of these completion
   * queues.
   */
  static void orphan(List<Posted> requests, Collection<WatchedCompletionQueue> queues) {
    // Sets all counts first: another thread may find the first queue empty before the last queue
    // has the requests.
    requests.forEach(request -> request.candidates(queues.size()));
    queues.forEach(queue -> queue.addOrphans(requests));
  }

  private synchronized void addOrphans(List<Posted> requests) {
    if (closed) {
      forget(requests);
    } else {
      orphans.addAll(requests);
    }
  }

  synchronized int orphans() {
    return orphans.size();
  }

  /**
   * Forgets the first {@code count} orphans, which have no completion: a poll has emptied the
   * queue.
   */
  synchronized void forgetOrphans(int count) {
    List<Posted> gone = orphans.subList(0, Math.min(count, orphans.size()));
    forget(gone);
    gone.clear();
  }

  private void forget(List<Posted> requests) {
    for (Posted request : requests) {
      if (request.ruleOutCandidate()) {
        device.forget(request);
      }
    }
  }

  synchronized boolean isClosed() {
    return closed;
  }

  synchronized void close() {
    closed = true;
    forgetOrphans(orphans.size());
  }
}
