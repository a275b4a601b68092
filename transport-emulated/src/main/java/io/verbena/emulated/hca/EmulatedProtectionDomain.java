// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
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
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/** A protection domain and the counts of its objects. */
public final class EmulatedProtectionDomain implements ProtectionDomain {

  /** The kinds of objects that a protection domain owns. */
  enum Kind {
    MEMORY_REGION,
    MEMORY_WINDOW,
    SHARED_RECEIVE_QUEUE,
    QUEUE_PAIR,
    ADDRESS_HANDLE
  }

  private final EmulatedDevice device;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  EmulatedProtectionDomain(EmulatedDevice device) {
    this.device = device;
  }

  @Override
  public EmulatedDevice device() {
    return device;
  }

  @Override
  public EmulatedMemoryRegion register(ByteBuffer buffer, Set<Access> access) {
    RegistrationLimits.check(buffer, access);
    if (access.contains(Access.REMOTE_ATOMIC)) {
      device.attributes().require(Capability.ATOMICS);
    }
    return create(
        Kind.MEMORY_REGION,
        device.attributes().maxMemoryRegions(),
        () -> EmulatedMemoryRegion.register(this, buffer, access));
  }

  @Override
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    device
        .attributes()
        .require(
            type == MemoryWindowType.TYPE_1
                ? Capability.MEMORY_WINDOW_TYPE_1
                : Capability.MEMORY_WINDOW_TYPE_2B);
    return create(
        Kind.MEMORY_WINDOW,
        device.attributes().maxMemoryWindows(),
        () -> EmulatedMemoryWindow.allocate(this, type));
  }

  @Override
  public QueuePair createQueuePair(QueuePairOptions options) {
    DeviceAttributes limits = device.attributes();
    QueuePairLimits.check(options, limits);
    checkOurs(options.sendQueue());
    checkOurs(options.receiveQueue());
    SharedReceiveQueue shared = options.sharedReceiveQueue();
    if (shared != null
        && (!(shared instanceof EmulatedSharedReceiveQueue ours)
            || ours.protectionDomain().device() != device)) {
      throw new VerbsException(
          VerbsError.INVALID, "create queue pair: the shared receive queue is another device's");
    }
    return create(
        Kind.QUEUE_PAIR, limits.maxQueuePairs(), () -> device.addQueuePair(this, options));
  }

  private void checkOurs(CompletionQueue queue) {
    if (!(queue instanceof EmulatedCompletionQueue ours) || ours.device() != device) {
      throw new VerbsException(
          VerbsError.INVALID, "create queue pair: a completion queue is another device's");
    }
  }

  @Override
  public EmulatedSharedReceiveQueue createSharedReceiveQueue(
      int maxWorkRequests, int maxScatterGather) {
    DeviceAttributes limits = device.attributes();
    limits.require(Capability.SHARED_RECEIVE_QUEUE);
    String verb = "create shared receive queue";
    Range.check(verb, "max work requests", maxWorkRequests, 1, limits.maxSharedReceiveRequests());
    Range.check(verb, "max scatter/gather", maxScatterGather, 1, limits.maxScatterGather());
    return create(
        Kind.SHARED_RECEIVE_QUEUE,
        limits.maxSharedReceiveQueues(),
        () -> new EmulatedSharedReceiveQueue(this, maxWorkRequests, maxScatterGather));
  }

  @Override
  public EmulatedAddressHandle createAddressHandle(AddressVector vector) {
    DeviceAttributes limits = device.attributes();
    limits.require(Capability.UNRELIABLE_DATAGRAM);
    AddressLimits.check("create address handle", vector, device.port().gids().size());
    device.fabric().check("create address handle", vector);
    return create(
        Kind.ADDRESS_HANDLE,
        limits.maxAddressHandles(),
        () -> new EmulatedAddressHandle(this, vector));
  }

  /**
   * {@inheritDoc}
   *
   * <p>The header in the area holds no UDP port: the address handle leads to the HCA on RoCEv2's
   * UDP port, even if the sender uses another port.
   */
  @Override
  public AddressHandle createAddressHandle(WorkCompletion received, ByteBuffer area) {
    if (!received.isSuccess() || (received.flags() & WorkCompletion.GRH) == 0) {
      return ProtectionDomain.super.createAddressHandle(received, area);
    }
    return createAddressHandle(GlobalRoute.back(area, List.of(UdpGid.plain(device.gid()))));
  }

  /**
   * Creates an object and counts it, in this domain and on the device, against the device's limit.
   */
  private <T> T create(Kind kind, int limit, Supplier<T> creation) {
    device.requireWhole("create " + kind.name().toLowerCase(Locale.ROOT).replace('_', ' '));
    return open.create(kind, Integer.MAX_VALUE, () -> device.held().create(kind, limit, creation));
  }

  /** Transfers an object to another domain of the device. */
  void give(Kind kind, EmulatedProtectionDomain to) {
    to.open.opened(kind, Integer.MAX_VALUE);
    open.closed(kind);
  }

  void closed(Kind kind) {
    device.held().closed(kind);
    open.closed(kind);
  }

  @Override
  public void close() {
    if (open.close("protection domain")) {
      device.closed(EmulatedDevice.Kind.PROTECTION_DOMAIN);
    }
  }
}
