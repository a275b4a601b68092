// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;

/** A shared receive queue whose receives are watched. */
final class SanitizedSharedReceiveQueue implements SharedReceiveQueue {
  private final WatchedDevice device;
  private final SharedReceiveQueue queue;
  private final WatchedReceives receives;
  private final TrackedObject tracked;

  SanitizedSharedReceiveQueue(SanitizedDomain domain, SharedReceiveQueue queue, CallSite place) {
    this.queue = queue;
    device = domain.watched().device;
    receives = new WatchedReceives(domain.watched(), null);
    tracked = TrackedObject.of(this, device, "shared receive queue", place);
    domain.sanitizedDevice().wrapped(queue, this);
  }

  SharedReceiveQueue queue() {
    return queue;
  }

  WatchedReceives receives() {
    return receives;
  }

  @Override
  public int maxWorkRequests() {
    return queue.maxWorkRequests();
  }

  @Override
  public int maxScatterGather() {
    return queue.maxScatterGather();
  }

  @Override
  public int limit() {
    return queue.limit();
  }

  @Override
  public void limit(int limit) {
    queue.limit(limit);
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    Report report = new Report();
    try {
      receives.post(request, null, queue::postReceive, CallSite.here(), report);
    } catch (RuntimeException | Error e) {
      device.deliver(report, e);
      throw e;
    }
    device.deliver(report);
  }

  @Override
  public synchronized void close() {
    if (tracked.isOpen()) {
      queue.close();
      tracked.closed();
      receives.close();
    }
  }
}
