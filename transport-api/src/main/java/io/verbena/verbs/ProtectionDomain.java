// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.util.Set;

/**
 * A group of memory regions, windows, queue pairs and address handles: only objects of one domain
 * work together ({@code ibv_pd}). Closing it fails with {@link VerbsError#BUSY} while objects of it
 * are open.
 */
public interface ProtectionDomain extends AutoCloseable {

  /** Returns the device of the domain. */
  Device device();

  /**
   * Registers a buffer's bytes from position to limit. The region keeps the memory reachable until
   * it is closed. Until then position and limit may be changed, but the memory must not be freed
   * and the file of a mapped buffer must not be truncated. If memory is gone, a request that uses
   * it fails at the end that owns the memory. JVMs before JDK 25 notice a truncated file late, if
   * at all.
   *
   * @param buffer a direct buffer, writable for {@link Access#LOCAL_WRITE}
   * @param access the rights of the region beside local read
   * @throws VerbsException {@code INVALID} for heap memory, an empty buffer, invalid combinations
   *     of rights, or memory of a confined {@code Arena} if the HCA is software, which copies on
   *     any thread; {@code NO_MEMORY} beyond the device's limits
   */
  MemoryRegion register(ByteBuffer buffer, Set<Access> access);

  /**
   * Allocates a memory window.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has no windows of this type
   */
  MemoryWindow allocateMemoryWindow(MemoryWindowType type);

  /**
   * Creates a queue pair in {@link QueuePairState#RESET}.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} for a type that the device does not have, {@code
   *     INVALID} for capacities out of range or objects of another device
   */
  QueuePair createQueuePair(QueuePairOptions options);

  /**
   * Creates a shared receive queue.
   *
   * @param maxWorkRequests the least number of receives that the queue must hold
   * @param maxScatterGather the most entries of a receive
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has no shared receive queues
   */
  SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather);

  /**
   * Creates an address handle for UD.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has no address handles
   */
  AddressHandle createAddressHandle(AddressVector vector);

  /**
   * Creates an address handle back to the sender of a datagram ({@code ibv_create_ah_from_wc(3)}).
   * The sender's queue pair is {@link WorkCompletion#sourceQueuePair}; both ends have to agree on
   * its queue key.
   *
   * @param received the completion of the receive
   * @param area the first 40 bytes of the receive's buffers, from its position on; not filled on
   *     InfiniBand if the completion lacks {@link WorkCompletion#GRH}
   * @throws VerbsException {@code INVALID} if the completion is not a datagram's, or the area has
   *     no address of a peer and this device; else as above
   */
  default AddressHandle createAddressHandle(WorkCompletion received, ByteBuffer area) {
    if (!received.isSuccess() || (received.flags() & WorkCompletion.GRH) == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "create address handle: not the receive of a datagram: " + received);
    }
    return createAddressHandle(GlobalRoute.back(area, device().port().gids()));
  }

  @Override
  void close();
}
