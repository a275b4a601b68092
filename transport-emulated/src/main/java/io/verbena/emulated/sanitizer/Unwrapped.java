// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * Maps wrappers to the device's own objects. Returns other objects as they are, and leaves them to
 * the device.
 */
final class Unwrapped {
  private Unwrapped() {}

  static ProtectionDomain domain(ProtectionDomain given) {
    return given instanceof SanitizedDomain ours ? ours.watched().domain : given;
  }

  static @Nullable CompletionChannel channel(@Nullable CompletionChannel given) {
    return given instanceof SanitizedChannel ours ? ours.channel() : given;
  }

  static CompletionQueue queue(CompletionQueue given) {
    return given instanceof SanitizedCompletionQueue ours ? ours.queue() : given;
  }

  static @Nullable SharedReceiveQueue sharedQueue(@Nullable SharedReceiveQueue given) {
    return given instanceof SanitizedSharedReceiveQueue ours ? ours.queue() : given;
  }

  static MemoryRegion region(MemoryRegion given) {
    return given instanceof SanitizedMemoryRegion ours ? ours.region() : given;
  }

  static MemoryWindow window(MemoryWindow given) {
    return given instanceof SanitizedMemoryWindow ours ? ours.window() : given;
  }

  static AddressHandle handle(AddressHandle given) {
    return given instanceof SanitizedAddressHandle ours ? ours.handle() : given;
  }

  static QueuePairOptions options(QueuePairOptions given) {
    return new QueuePairOptions(
        given.type(),
        queue(given.sendQueue()),
        queue(given.receiveQueue()),
        sharedQueue(given.sharedReceiveQueue()),
        given.maxSend(),
        given.maxReceive(),
        given.maxSendScatterGather(),
        given.maxReceiveScatterGather(),
        given.maxInlineData(),
        given.signalAll());
  }

  /** Returns a copy of one request of a chain, with the token as its id, for the device. */
  static SendWorkRequest request(SendWorkRequest given, Posted posted) {
    SendWorkRequest copy = new SendWorkRequest(given.buffers().size());
    copy.copyFrom(given);
    copy.id(posted.token);
    posted.translate(copy.buffers());
    MemoryWindow window = given.window();
    MemoryRegion region = given.windowRegion();
    if (given.opcode() == SendOpcode.BIND_MW && window != null && region != null) {
      rebind(copy, given, window(window), region(region));
    }
    AddressHandle handle = given.addressHandle();
    if (handle != null) {
      copy.to(handle(handle), given.remoteQueuePair(), given.remoteQueueKey());
    }
    return copy;
  }

  private static void rebind(
      SendWorkRequest copy, SendWorkRequest given, MemoryWindow window, MemoryRegion region) {
    copy.bind(window, given.remoteKey(), region, given.windowAccess());
    if ((given.flags() & SendWorkRequest.SIGNALED) != 0) {
      copy.signaled();
    }
    if ((given.flags() & SendWorkRequest.FENCE) != 0) {
      copy.fence();
    }
    if ((given.flags() & SendWorkRequest.SOLICITED) != 0) {
      copy.solicited();
    }
    copy.buffers().copyFrom(given.buffers());
  }
}
