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
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
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
    EmulatedMemoryRegion.check(buffer, access);
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
    if (options.type() != QueuePairType.RC) {
      throw unsupported(
          options.type() == QueuePairType.UC
              ? Capability.UNRELIABLE_CONNECTED
              : Capability.UNRELIABLE_DATAGRAM);
    }
    if (options.sharedReceiveQueue() != null) {
      throw unsupported(Capability.SHARED_RECEIVE_QUEUE);
    }
    DeviceAttributes limits = device.attributes();
    check("max send", options.maxSend(), 1, limits.maxWorkRequests());
    check("max receive", options.maxReceive(), 0, limits.maxWorkRequests());
    int entries = limits.maxScatterGather();
    check("max send scatter/gather", options.maxSendScatterGather(), 0, entries);
    check("max receive scatter/gather", options.maxReceiveScatterGather(), 0, entries);
    check("max inline data", options.maxInlineData(), 0, limits.maxInlineData());
    checkOurs(options.sendQueue());
    checkOurs(options.receiveQueue());
    open.opened(Kind.QUEUE_PAIR, limits.maxQueuePairs());
    boolean created = false;
    try {
      QueuePair pair = device.addQueuePair(this, options);
      created = true;
      return pair;
    } finally {
      if (!created) {
        open.closed(Kind.QUEUE_PAIR);
      }
    }
  }

  private void checkOurs(CompletionQueue queue) {
    if (!(queue instanceof EmulatedCompletionQueue ours) || ours.device() != device) {
      throw new VerbsException(
          VerbsError.INVALID, "create queue pair: a completion queue is another device's");
    }
  }

  private static void check(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new VerbsException(
          VerbsError.INVALID,
          "create queue pair: " + name + ": " + value + " (expected: " + least + ".." + most + ")");
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
