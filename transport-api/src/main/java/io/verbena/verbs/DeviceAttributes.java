// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Set;

/**
 * The identity, capabilities and limits of a device ({@code ibv_query_device(3)}).
 *
 * @param name the device's name
 * @param firmware its firmware or software version
 * @param capabilities the device's capabilities beyond RC SEND, RECV, WRITE and READ
 * @param maxQueuePairs queue pairs
 * @param maxWorkRequests work requests in one send or receive queue
 * @param maxScatterGather entries in one work request
 * @param maxInlineData bytes of payload inside one work request
 * @param maxCompletionQueues completion queues
 * @param maxCompletions entries in one completion queue
 * @param maxMemoryRegions memory regions
 * @param maxMemoryRegionSize bytes in one memory region
 * @param maxProtectionDomains protection domains
 * @param maxMemoryWindows memory windows, 0 if it has none
 * @param maxAddressHandles address handles, 0 if it has none
 * @param maxSharedReceiveQueues shared receive queues, 0 if it has none
 * @param maxSharedReceiveRequests work requests in one shared receive queue
 * @param maxReadAtomicAsResponder READs and atomics that a queue pair serves at once
 * @param maxReadAtomicAsInitiator READs and atomics that a queue pair has outstanding at once
 * @param maxMessageSize bytes in one message
 */
public record DeviceAttributes(
    String name,
    String firmware,
    Set<Capability> capabilities,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxScatterGather,
    int maxInlineData,
    int maxCompletionQueues,
    int maxCompletions,
    int maxMemoryRegions,
    long maxMemoryRegionSize,
    int maxProtectionDomains,
    int maxMemoryWindows,
    int maxAddressHandles,
    int maxSharedReceiveQueues,
    int maxSharedReceiveRequests,
    int maxReadAtomicAsResponder,
    int maxReadAtomicAsInitiator,
    int maxMessageSize) {

  public DeviceAttributes {
    capabilities = Set.copyOf(capabilities);
  }

  /** Returns whether the device has this capability. */
  public boolean supports(Capability capability) {
    return capabilities.contains(capability);
  }

  /**
   * Fails unless the device has this capability.
   *
   * @throws VerbsException {@link VerbsError#NOT_SUPPORTED}, naming the device and the capability
   */
  public void require(Capability capability) {
    if (!supports(capability)) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED, "device " + name + " does not support " + capability);
    }
  }
}
