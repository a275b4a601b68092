// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsException;

/** Checks the options of a queue pair, before a verb does anything. */
public final class QueuePairLimits {
  private static final String VERB = "create queue pair";

  private QueuePairLimits() {}

  /**
   * Checks the type and the capacities against a device. The provider checks that the queues are
   * its own.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} for a type or a shared receive queue that the
   *     device does not have, {@code INVALID} for a capacity, naming the capacity and its limits
   */
  public static void check(QueuePairOptions options, DeviceAttributes device) {
    if (options.type() == QueuePairType.UC) {
      device.require(Capability.UNRELIABLE_CONNECTED);
    } else if (options.type() == QueuePairType.UD) {
      device.require(Capability.UNRELIABLE_DATAGRAM);
    }
    if (options.sharedReceiveQueue() != null) {
      device.require(Capability.SHARED_RECEIVE_QUEUE);
    }
    Range.check(VERB, "max send", options.maxSend(), 1, device.maxWorkRequests());
    Range.check(VERB, "max receive", options.maxReceive(), 0, device.maxWorkRequests());
    int entries = device.maxScatterGather();
    Range.check(VERB, "max send scatter/gather", options.maxSendScatterGather(), 0, entries);
    Range.check(VERB, "max receive scatter/gather", options.maxReceiveScatterGather(), 0, entries);
    Range.check(VERB, "max inline data", options.maxInlineData(), 0, device.maxInlineData());
  }
}
