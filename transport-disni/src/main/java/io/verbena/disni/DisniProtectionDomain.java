// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.provider.AddressLimits;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.QueuePairLimits;
import io.verbena.verbs.provider.Range;
import io.verbena.verbs.provider.RegistrationLimits;
import java.nio.ByteBuffer;
import java.util.Set;

/** A protection domain ({@code ibv_alloc_pd(3)}), which counts the objects in it. */
final class DisniProtectionDomain implements ProtectionDomain {

  /** The objects that a protection domain owns. */
  enum Kind {
    MEMORY_REGION,
    MEMORY_WINDOW,
    SHARED_RECEIVE_QUEUE,
    QUEUE_PAIR,
    ADDRESS_HANDLE
  }

  private final DisniDevice device;
  private final long pointer;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  DisniProtectionDomain(DisniDevice device, long pointer) {
    this.device = device;
    this.pointer = pointer;
  }

  long pointer() {
    return pointer;
  }

  @Override
  public DisniDevice device() {
    return device;
  }

  @Override
  public DisniMemoryRegion register(ByteBuffer buffer, Set<Access> access) {
    RegistrationLimits.check(buffer, access);
    if (access.contains(Access.REMOTE_ATOMIC)) {
      device.attributes().require(Capability.ATOMICS);
    }
    return open.create(
        Kind.MEMORY_REGION,
        device.attributes().maxMemoryRegions(),
        () -> new DisniMemoryRegion(this, buffer, access));
  }

  @Override
  public DisniMemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    device
        .attributes()
        .require(
            type == MemoryWindowType.TYPE_1
                ? Capability.MEMORY_WINDOW_TYPE_1
                : Capability.MEMORY_WINDOW_TYPE_2B);
    return open.create(
        Kind.MEMORY_WINDOW,
        device.attributes().maxMemoryWindows(),
        () -> new DisniMemoryWindow(this, type));
  }

  @Override
  public DisniQueuePair createQueuePair(QueuePairOptions options) {
    check(options);
    return open.create(
        Kind.QUEUE_PAIR,
        device.attributes().maxQueuePairs(),
        () -> DisniQueuePair.create(this, null, options));
  }

  /** Creates the queue pair of a connection ({@code rdma_create_qp(3)}). */
  DisniQueuePair createQueuePair(QueuePairOptions options, DisniConnection connection) {
    check(options);
    return open.create(
        Kind.QUEUE_PAIR,
        device.attributes().maxQueuePairs(),
        () -> DisniQueuePair.create(this, connection, options));
  }

  private void check(QueuePairOptions options) {
    if (options.maxInlineData() > 0) {
      device.attributes().require(Capability.INLINE_DATA);
    }
    QueuePairLimits.check(options, device.attributes());
    SharedReceiveQueue shared = options.sharedReceiveQueue();
    if (shared != null
        && (!(shared instanceof DisniSharedReceiveQueue ours)
            || ours.protectionDomain().device() != device)) {
      throw new VerbsException(
          VerbsError.INVALID, "create queue pair: the shared receive queue is another device's");
    }
    checkOurs(options.sendQueue());
    checkOurs(options.receiveQueue());
  }

  private void checkOurs(CompletionQueue queue) {
    if (!(queue instanceof DisniCompletionQueue ours) || ours.device() != device) {
      throw new VerbsException(
          VerbsError.INVALID, "create queue pair: a completion queue is another device's");
    }
  }

  @Override
  public DisniSharedReceiveQueue createSharedReceiveQueue(
      int maxWorkRequests, int maxScatterGather) {
    DeviceAttributes limits = device.attributes();
    limits.require(Capability.SHARED_RECEIVE_QUEUE);
    String verb = "create shared receive queue";
    Range.check(verb, "max work requests", maxWorkRequests, 1, limits.maxSharedReceiveRequests());
    Range.check(verb, "max scatter/gather", maxScatterGather, 1, limits.maxScatterGather());
    return open.create(
        Kind.SHARED_RECEIVE_QUEUE,
        limits.maxSharedReceiveQueues(),
        () -> DisniSharedReceiveQueue.create(this, maxWorkRequests, maxScatterGather));
  }

  @Override
  public DisniAddressHandle createAddressHandle(AddressVector vector) {
    device.attributes().require(Capability.UNRELIABLE_DATAGRAM);
    // The fields of ibv_ah_attr are narrower than int, so the values are checked here.
    AddressLimits.check(
        "create address handle", vector, device.at().gidsFor(vector.sourceGidIndex()));
    return open.create(
        Kind.ADDRESS_HANDLE,
        device.attributes().maxAddressHandles(),
        () -> new DisniAddressHandle(this, vector));
  }

  /**
   * {@inheritDoc} On InfiniBand the handle uses the sender's LID, and its GID too if the datagram
   * has a GRH.
   */
  @Override
  public AddressHandle createAddressHandle(WorkCompletion received, ByteBuffer area) {
    if (!received.isSuccess() || received.sourceLid() == 0) {
      return ProtectionDomain.super.createAddressHandle(received, area);
    }
    boolean isRouted = (received.flags() & WorkCompletion.GRH) != 0;
    AddressVector way =
        isRouted
            ? GlobalRoute.back(area, device.port().gids())
            : AddressVector.toLid(received.sourceLid());
    return createAddressHandle(
        new AddressVector(
            way.destination(),
            way.sourceGidIndex(),
            way.hopLimit(),
            way.trafficClass(),
            way.flowLabel(),
            received.sourceLid(),
            received.serviceLevel()));
  }

  /** Counts an object that moves into this domain. */
  void opened(Kind kind) {
    open.opened(kind, Integer.MAX_VALUE);
  }

  void closed(Kind kind) {
    open.closed(kind);
  }

  @Override
  public void close() {
    String name = "protection domain";
    if (open.close(
        name, () -> Errno.check("deallocate " + name, device.core().deallocateDomain(pointer)))) {
      device.closed(DisniDevice.Kind.PROTECTION_DOMAIN);
    }
  }
}
