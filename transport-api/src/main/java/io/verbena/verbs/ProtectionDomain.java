// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.util.Set;

/**
 * Groups memory regions, windows, queue pairs and address handles: only those of one domain work
 * together. Closing it fails with {@link VerbsError#BUSY} while it holds anything.
 */
public interface ProtectionDomain extends AutoCloseable {

  /** Returns the device that it belongs to. */
  Device device();

  /**
   * Registers a buffer's bytes from position to limit. The region holds on to the memory until it
   * is closed; position and limit may be changed meanwhile, but the memory must not be freed, and
   * the file of a mapped buffer must not be truncated. A request whose memory turns out to be gone
   * fails, at the end whose memory it is. JVMs before JDK 25 notice a truncated file late, if at
   * all.
   *
   * @param buffer a direct buffer; writable if {@link Access#LOCAL_WRITE} is asked for
   * @param access what may be done to it, apart from local reading
   * @throws VerbsException {@code INVALID} for heap memory, an empty buffer, rights that do not go
   *     together, or memory of a confined {@code Arena} where the HCA is software, which copies on
   *     any thread; {@code NO_MEMORY} beyond the device's limits
   */
  MemoryRegion register(ByteBuffer buffer, Set<Access> access);

  /**
   * Allocates a memory window.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has none of this type
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
   * @param maxWorkRequests receives that it must hold at least
   * @param maxScatterGather entries of a receive
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has none
   */
  SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather);

  /**
   * Creates an address handle for UD.
   *
   * @throws VerbsException {@code NOT_SUPPORTED} if the device has none
   */
  AddressHandle createAddressHandle(AddressVector vector);

  /**
   * Creates an address handle back to the sender of a datagram ({@code ibv_create_ah_from_wc(3)}).
   * Its queue pair is {@link WorkCompletion#sourceQueuePair}; its queue key the two have to agree
   * on.
   *
   * @param received the completion of the receive
   * @param area the first 40 bytes of the receive's buffers, from its position on; nothing stands
   *     there on InfiniBand where the completion does not have {@link WorkCompletion#GRH}
   * @throws VerbsException {@code INVALID} if the completion is not a datagram's, or the area does
   *     not say that it came from a peer to this device; else as above
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
