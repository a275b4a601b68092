package io.verbena.emulated;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
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
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.QueuePairLimits;
import io.verbena.verbs.provider.RegistrationLimits;
import java.nio.ByteBuffer;
import java.util.Set;

/** A protection domain and the count of what it holds. */
final class EmulatedProtectionDomain implements ProtectionDomain {

  /** What a protection domain owns. */
  enum Kind {
    MEMORY_REGION,
    QUEUE_PAIR
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
  public SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
    throw unsupported(Capability.SHARED_RECEIVE_QUEUE);
  }

  @Override
  public AddressHandle createAddressHandle(AddressVector vector) {
    throw unsupported(Capability.UNRELIABLE_DATAGRAM);
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
