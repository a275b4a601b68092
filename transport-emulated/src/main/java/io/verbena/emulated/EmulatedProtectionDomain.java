package io.verbena.emulated;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.AddressLimits;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.QueuePairLimits;
import io.verbena.verbs.provider.Range;
import io.verbena.verbs.provider.RegistrationLimits;
import java.nio.ByteBuffer;
import java.util.Set;

/** A protection domain and the count of what it holds. */
final class EmulatedProtectionDomain implements ProtectionDomain {

  /** What a protection domain owns. */
  enum Kind {
    MEMORY_REGION,
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
    open.opened(Kind.MEMORY_REGION, device.attributes().maxMemoryRegions());
    return EmulatedMemoryRegion.register(this, buffer, access);
  }

  @Override
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    throw unsupported(
        type == MemoryWindowType.TYPE_1
            ? Capability.MEMORY_WINDOW_TYPE_1
            : Capability.MEMORY_WINDOW_TYPE_2B);
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
    return open.create(
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
    return open.create(
        Kind.SHARED_RECEIVE_QUEUE,
        limits.maxSharedReceiveQueues(),
        () -> new EmulatedSharedReceiveQueue(this, maxWorkRequests, maxScatterGather));
  }

  @Override
  public EmulatedAddressHandle createAddressHandle(AddressVector vector) {
    DeviceAttributes limits = device.attributes();
    limits.require(Capability.UNRELIABLE_DATAGRAM);
    AddressLimits.check("create address handle", vector, device.port().gids().size());
    return open.create(
        Kind.ADDRESS_HANDLE,
        limits.maxAddressHandles(),
        () -> new EmulatedAddressHandle(this, vector));
  }

  private VerbsException unsupported(Capability capability) {
    return new VerbsException(
        VerbsError.NOT_SUPPORTED,
        "device " + device.attributes().name() + " does not support " + capability);
  }

  void closed(Kind kind) {
    open.closed(kind);
  }

  @Override
  public void close() {
    if (open.close("protection domain")) {
      device.closed(EmulatedDevice.Kind.PROTECTION_DOMAIN);
    }
  }
}
