// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A completion queue whose polls end the watch of the completed work requests. */
final class SanitizedCompletionQueue implements CompletionQueue {
  private static final int DRAIN = 64;

  private final SanitizedDevice device;
  private final CompletionQueue queue;
  private final @Nullable CompletionChannel channel;
  private final WatchedCompletionQueue watched;
  private final TrackedObject tracked;
  private final ReentrantLock polling = new ReentrantLock();

  /** Completions that a failed attempt to close the queue took from it. */
  private final ArrayDeque<WorkCompletion> left = new ArrayDeque<>();

  SanitizedCompletionQueue(
      SanitizedDevice device,
      CompletionQueue queue,
      @Nullable CompletionChannel channel,
      CallSite place) {
    this.device = device;
    this.queue = queue;
    this.channel = channel;
    watched = new WatchedCompletionQueue(device.watched(), place, queue.depth());
    tracked = TrackedObject.of(this, device.watched(), "completion queue", place);
  }

  CompletionQueue queue() {
    return queue;
  }

  WatchedCompletionQueue watched() {
    return watched;
  }

  @Override
  public int depth() {
    return queue.depth();
  }

  @Override
  public @Nullable CompletionChannel channel() {
    return channel;
  }

  @Override
  public int poll(WorkCompletion[] completions) {
    Report report = new Report();
    int count;
    polling.lock();
    try {
      int orphans = watched.orphans();
      count = left.isEmpty() ? queue.poll(completions) : takeLeft(completions);
      for (int i = 0; i < count; i++) {
        translate(completions[i], report);
      }
      if (count < completions.length && left.isEmpty()) {
        watched.forgetOrphans(orphans);
      }
    } finally {
      polling.unlock();
    }
    device.watched().deliver(report);
    return count;
  }

  private int takeLeft(WorkCompletion[] completions) {
    int count = 0;
    while (count < completions.length && !left.isEmpty()) {
      WorkCompletion taken = left.remove();
      completions[count++].set(taken.workRequestId(), taken);
    }
    return count;
  }

  private void translate(WorkCompletion completion, Report report) {
    Posted request = device.watched().posted(completion.workRequestId());
    if (request == null) {
      report.add(
          Finding.at(
              Finding.Kind.UNKNOWN_COMPLETION,
              CallSite.here(),
              completion + ": belongs to no outstanding work request"));
      return;
    }
    WatchedQueuePair queuePair = request.queuePair;
    WatchedReceives receives = request.receives;
    if (receives != null) {
      receives.completed(request, received(completion), report);
      if (completion.isSuccess() && (completion.flags() & WorkCompletion.WITH_INV) != 0) {
        device.watched().deadKeys().died(completion.invalidatedKey(), request.place);
      }
    } else if (queuePair != null) {
      queuePair.completed(request, completion.isSuccess(), report);
      if (completion.status() == CompletionStatus.RNR_RETRY_EXC_ERR) {
        queuePair.gaveUp(report);
      }
    }
    completion.set(request.id, completion);
  }

  private static int received(WorkCompletion completion) {
    return completion.isSuccess() && completion.opcode() == CompletionOpcode.RECV
        ? completion.byteLength()
        : 0;
  }

  @Override
  public void arm(boolean solicitedOnly) {
    queue.arm(solicitedOnly);
  }

  @Override
  public void acknowledgeEvents(int count) {
    queue.acknowledgeEvents(count);
  }

  @Override
  public void resize(int depth) {
    queue.resize(depth);
    watched.depth(queue.depth());
  }

  @Override
  public void close() {
    Report report = new Report();
    polling.lock();
    try {
      if (!tracked.isOpen()) {
        return;
      }
      if (!watched.hasQueuePairs()) {
        drain(report);
      }
      queue.close();
      tracked.closed();
      watched.close();
    } finally {
      polling.unlock();
    }
    if (channel instanceof SanitizedChannel ours) {
      ours.remove(this);
    }
    device.watched().deliver(report);
  }

  private void drain(Report report) {
    WorkCompletion[] batch = WorkCompletion.array(DRAIN);
    int count;
    do {
      count = queue.poll(batch);
      for (int i = 0; i < count; i++) {
        WorkCompletion taken = new WorkCompletion();
        taken.set(batch[i].workRequestId(), batch[i]);
        left.add(taken);
        checkThrownAway(taken, report);
      }
    } while (count == batch.length);
  }

  private void checkThrownAway(WorkCompletion completion, Report report) {
    Posted request = device.watched().posted(completion.workRequestId());
    if (request != null && request.abandoned && completion.isSuccess()) {
      report.add(
          Finding.at(
              Finding.Kind.COMPLETION_NEVER_POLLED,
              request.place,
              request + ": its completion was in the completion queue that is being closed"));
    }
  }
}
