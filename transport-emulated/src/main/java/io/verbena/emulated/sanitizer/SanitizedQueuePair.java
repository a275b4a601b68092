// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Capability;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.provider.QueuePairListeners;
import org.jspecify.annotations.Nullable;

/** A queue pair that records all posted work requests. */
final class SanitizedQueuePair implements QueuePair {
  private final SanitizedDomain domain;
  private final QueuePair queuePair;
  private final @Nullable SharedReceiveQueue sharedReceiveQueue;
  private final WatchedDevice device;
  private final WatchedQueuePair watched;
  private final TrackedObject tracked;

  SanitizedQueuePair(
      SanitizedDomain domain, QueuePair queuePair, QueuePairOptions options, CallSite place) {
    this.domain = domain;
    this.queuePair = queuePair;
    sharedReceiveQueue = options.sharedReceiveQueue();
    device = domain.watched().device;
    watched =
        new WatchedQueuePair(
            domain.watched(),
            queuePair,
            options.signalAll(),
            // The device refuses queues of other devices, and all of its own queues are wrapped.
            ((SanitizedCompletionQueue) options.sendQueue()).watched(),
            ((SanitizedCompletionQueue) options.receiveQueue()).watched(),
            sharedReceiveQueue instanceof SanitizedSharedReceiveQueue ours
                ? ours.receives()
                : null);
    tracked = TrackedObject.of(this, device, "queue pair " + queuePair.number(), place);
    domain.sanitizedDevice().wrapped(queuePair, this);
    // Shows listeners the wrapper, which is the only object that the program knows.
    QueuePairListeners.closed(queuePair);
    QueuePairListeners.opened(this);
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** Looks for the peer, after the connection manager has connected the queue pair. */
  void connected() {
    watched.peer();
  }

  @Override
  public int number() {
    return queuePair.number();
  }

  @Override
  public QueuePairType type() {
    return queuePair.type();
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public boolean supports(Capability capability) {
    return queuePair.supports(capability);
  }

  @Override
  public QueuePairCapabilities capabilities() {
    return queuePair.capabilities();
  }

  @Override
  public @Nullable SharedReceiveQueue sharedReceiveQueue() {
    return sharedReceiveQueue;
  }

  @Override
  public QueuePairState state() {
    return queuePair.state();
  }

  @Override
  public void modify(QueuePairAttributes attributes) {
    queuePair.modify(attributes);
    if (attributes.has(QueuePairAttributes.Field.STATE)
        && attributes.state() == QueuePairState.RESET) {
      watched.reset();
    }
  }

  @Override
  public QueuePairAttributes query() {
    return queuePair.query();
  }

  @Override
  public QueuePairReading reading() {
    return queuePair.reading();
  }

  @Override
  public void postSend(SendWorkRequest request) {
    Report report = new Report();
    try {
      watched.postSend(request, CallSite.here(), report);
    } catch (RuntimeException | Error e) {
      device.deliver(report, e);
      throw e;
    }
    device.deliver(report);
  }

  @Override
  public void bindMemoryWindow(SendWorkRequest request) {
    Report report = new Report();
    try {
      watched.bindMemoryWindow(request, CallSite.here(), report);
    } catch (RuntimeException | Error e) {
      device.deliver(report, e);
      throw e;
    }
    device.deliver(report);
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    Report report = new Report();
    try {
      watched.postReceive(request, CallSite.here(), report);
    } catch (RuntimeException | Error e) {
      device.deliver(report, e);
      throw e;
    }
    device.deliver(report);
  }

  @Override
  public void close() {
    Report report = new Report();
    synchronized (this) {
      if (!tracked.isOpen()) {
        return;
      }
      watched.checkClose(CallSite.here(), report);
      queuePair.close();
      QueuePairListeners.closed(this);
      tracked.closed();
      watched.close();
    }
    device.deliver(report);
  }
}
