// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.Set;

/** A protection domain whose objects are watched. */
final class SanitizedDomain implements ProtectionDomain {
  private final SanitizedDevice device;
  private final WatchedDomain watched;
  private final TrackedObject tracked;

  SanitizedDomain(SanitizedDevice device, ProtectionDomain domain, CallSite place) {
    this.device = device;
    watched = new WatchedDomain(device.watched(), domain);
    tracked = TrackedObject.of(this, device.watched(), "protection domain", place);
  }

  WatchedDomain watched() {
    return watched;
  }

  SanitizedDevice sanitizedDevice() {
    return device;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public MemoryRegion register(ByteBuffer buffer, Set<Access> access) {
    MemoryRegion region = watched.domain.register(buffer, access);
    return new SanitizedMemoryRegion(this, region, buffer.slice(), CallSite.here());
  }

  @Override
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    return new SanitizedMemoryWindow(
        this, watched.domain.allocateMemoryWindow(type), CallSite.here());
  }

  @Override
  public QueuePair createQueuePair(QueuePairOptions options) {
    QueuePair created = watched.domain.createQueuePair(Unwrapped.options(options));
    return new SanitizedQueuePair(this, created, options, CallSite.here());
  }

  @Override
  public SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
    return new SanitizedSharedReceiveQueue(
        this,
        watched.domain.createSharedReceiveQueue(maxWorkRequests, maxScatterGather),
        CallSite.here());
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    return new SanitizedAddressHandle(
        this, watched.domain.createAddressHandle(vector), CallSite.here());
  }

  @Override
  public AddressHandle createAddressHandle(WorkCompletion received, ByteBuffer area) {
    return new SanitizedAddressHandle(
        this, watched.domain.createAddressHandle(received, area), CallSite.here());
  }

  @Override
  public void close() {
    watched.domain.close();
    tracked.closed();
  }
}
