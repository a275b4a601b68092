// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.PostException;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsError;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the sanitizer knows of the receives of a queue pair, or of a shared receive queue. */
final class WatchedReceives {
  private final WatchedDomain domain;
  private final @Nullable WatchedCompletionQueue completions;
  private final ReentrantLock posting = new ReentrantLock();
  private final Set<Posted> outstanding = new LinkedHashSet<>();
  private final AtomicLong posted = new AtomicLong();

  /** For a shared receive queue: the completion queues in which its receives may complete. */
  private final Set<WatchedCompletionQueue> queues = new LinkedHashSet<>();

  private volatile @Nullable CallSite lastPolled;

  /**
   * @param completions the completion queue of the receives, or null if it is not known at the post
   */
  WatchedReceives(WatchedDomain domain, @Nullable WatchedCompletionQueue completions) {
    this.domain = domain;
    this.completions = completions;
  }

  /**
   * Notes that a queue pair takes receives of this shared queue, which complete in {@code queue}.
   */
  void completeIn(WatchedCompletionQueue queue) {
    synchronized (queues) {
      queues.removeIf(WatchedCompletionQueue::isClosed);
      queues.add(queue);
    }
  }

  /** Returns the number of receives posted since the queue pair was created or reset. */
  long posted() {
    return posted.get();
  }

  /** Returns the place where the receive was posted whose completion was polled last, or null. */
  @Nullable CallSite lastPolled() {
    return lastPolled;
  }

  boolean isEmpty() {
    synchronized (outstanding) {
      return outstanding.isEmpty();
    }
  }

  /**
   * Posts a chain of receives.
   *
   * @param queuePair the queue pair of these receives, or null for a shared receive queue
   * @param verb posts a copy of the chain, with tokens as ids and with the device's addresses
   */
  void post(
      ReceiveWorkRequest first,
      @Nullable WatchedQueuePair queuePair,
      Consumer<ReceiveWorkRequest> verb,
      CallSite place,
      Report report) {
    List<Posted> chain = new ArrayList<>(1);
    posting.lock();
    try {
      ReceiveWorkRequest head = null;
      ReceiveWorkRequest tail = null;
      for (ReceiveWorkRequest next = first; next != null; next = next.next()) {
        Posted request = Posted.receive(next.id(), place, queuePair, this, next.buffers(), domain);
        add(request, report);
        chain.add(request);
        ReceiveWorkRequest copy = translate(request);
        if (head == null) {
          head = copy;
        } else if (tail != null) {
          tail.next(copy);
        }
        tail = copy;
      }
      if (head != null) {
        verb.accept(head);
      }
      if (completions != null) {
        completions.check(place, report);
      }
    } catch (PostException e) {
      int done = RefusedPosts.posted(e, chain);
      drop(chain.subList(done, chain.size()));
      if (e.error() == VerbsError.NO_MEMORY) {
        report.add(
            Finding.at(
                Finding.Kind.QUEUE_OVERFILLED,
                place,
                "receive queue: " + chain.get(done) + ": " + e.getMessage()));
      }
      throw RefusedPosts.withProgramId(e, chain.get(done));
    } catch (RuntimeException e) {
      drop(chain);
      throw e;
    } finally {
      posting.unlock();
    }
  }

  private void add(Posted request, Report report) {
    domain.device.add(request);
    synchronized (outstanding) {
      outstanding.add(request);
    }
    posted.incrementAndGet();
    if (completions != null) {
      completions.await(request);
    }
    Pieces.post(request, domain.device, report);
  }

  private static ReceiveWorkRequest translate(Posted request) {
    ReceiveWorkRequest copy = new ReceiveWorkRequest(request.pieces.length).id(request.token);
    request.translate(copy.buffers());
    return copy;
  }

  private void drop(List<Posted> requests) {
    for (Posted request : requests) {
      posted.decrementAndGet();
      synchronized (outstanding) {
        outstanding.remove(request);
      }
      WatchedCompletionQueue.arrived(request);
      domain.device.forget(request);
      Pieces.finish(request, 0, null);
    }
  }

  /**
   * Notes that the completion of a receive was polled.
   *
   * @param received bytes that arrived in its buffers
   */
  void completed(Posted request, int received, Report report) {
    boolean known;
    synchronized (outstanding) {
      known = outstanding.remove(request);
    }
    WatchedCompletionQueue.arrived(request);
    domain.device.forget(request);
    lastPolled = request.place;
    Pieces.finish(request, received, known ? report : null);
  }

  /**
   * Forgets the receives of a queue that was closed or reset: they belong to the program again.
   *
   * @return the receives whose completion was not polled
   */
  List<Posted> clear() {
    List<Posted> rest;
    synchronized (outstanding) {
      rest = new ArrayList<>(outstanding);
      outstanding.clear();
    }
    posted.set(0);
    lastPolled = null;
    for (Posted request : rest) {
      WatchedCompletionQueue.arrived(request);
      Pieces.release(request);
    }
    return rest;
  }

  /**
   * Notes that a shared queue was closed; completions of its receives may not have been polled yet.
   */
  void close() {
    List<Posted> rest = clear();
    List<WatchedCompletionQueue> all;
    synchronized (queues) {
      all = List.copyOf(queues);
    }
    if (all.isEmpty()) {
      rest.forEach(domain.device::forget);
    } else {
      WatchedCompletionQueue.orphan(rest, all);
    }
  }
}
