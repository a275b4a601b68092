// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A device without immediate data, with one scatter/gather entry, two READs at once and short
 * messages.
 */
final class LimitedDevice implements Device {
  private final Device device;
  private final ConcurrentHashMap<CompletionQueue, LimitedQueue> queues = new ConcurrentHashMap<>();

  private final int refusals;
  private final Fault fault;
  private final ConcurrentHashMap<Object, Integer> refused = new ConcurrentHashMap<>();

  /**
   * @param refusals how often the device, and each of its objects, refuses to be closed
   * @param fault the throwable and its place
   */
  LimitedDevice(Device device, int refusals, Fault fault) {
    this.device = device;
    this.refusals = refusals;
    this.fault = fault;
  }

  Fault fault() {
    return fault;
  }

  /** Closes an object, unless the object is to refuse once more. */
  void close(Object object, Runnable close) {
    if (refused.merge(object, 1, Integer::sum) <= refusals) {
      throw new VerbsException(VerbsError.BUSY, "close: refused by a test");
    }
    close.run();
  }

  @Override
  public DeviceAttributes attributes() {
    DeviceAttributes all = device.attributes();
    boolean shared = fault.needsSharedReceives();
    return new DeviceAttributes(
        "limited0",
        all.firmware(),
        shared
            // Receives are shared only where a sender without a receive waits, as this status
            // allows.
            ? Set.of(Capability.SHARED_RECEIVE_QUEUE, Capability.REQUEST_STATUS)
            : fault.isAnywhere() || !all.supports(Capability.ATOMICS)
                ? Set.of()
                : Set.of(Capability.ATOMICS),
        all.maxQueuePairs(),
        all.maxWorkRequests(),
        1,
        0,
        all.maxCompletionQueues(),
        shared ? all.maxCompletions() : 256,
        all.maxMemoryRegions(),
        all.maxMemoryRegionSize(),
        all.maxProtectionDomains(),
        0,
        0,
        shared ? all.maxSharedReceiveQueues() : 0,
        shared ? all.maxSharedReceiveRequests() : 0,
        2,
        2,
        LimitedProvider.LONGEST_MESSAGE);
  }

  @Override
  public PortAttributes port() {
    return device.port();
  }

  @Override
  public boolean hasCostlyPosts() {
    return fault.needsLists() || device.hasCostlyPosts();
  }

  @Override
  public DeviceCounters counters() {
    return DeviceCounters.NONE;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return fault.in(device.allocateProtectionDomain(), this);
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    return new LimitedChannel(device.createCompletionChannel(), this);
  }

  @Override
  public CompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded) {
    fault.at(Fault.Place.CREATE_COMPLETION_QUEUE);
    CompletionChannel inner = channel instanceof LimitedChannel limited ? limited.inner() : null;
    LimitedQueue queue =
        new LimitedQueue(device.createCompletionQueue(depth, inner, singleThreaded), channel, this);
    queues.put(queue.inner(), queue);
    return queue;
  }

  @Nullable LimitedQueue queue(@Nullable CompletionQueue inner) {
    return inner == null ? null : queues.get(inner);
  }

  @Override
  public ConnectionManager createConnectionManager() {
    return new LimitedManager(device.createConnectionManager(), this);
  }

  @Override
  public @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException {
    return device.awaitAsyncEvent(timeoutNanos);
  }

  @Override
  public void close() {
    close(this, device::close);
  }
}
