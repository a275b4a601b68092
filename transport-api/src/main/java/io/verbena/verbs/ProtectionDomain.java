package io.verbena.verbs;

import java.nio.ByteBuffer;
import java.util.Set;

/**
 * The fence round memory regions, windows, queue pairs and address handles: only what shares a
 * domain works together. Closing it fails with {@link VerbsError#BUSY} while it holds anything.
 */
public interface ProtectionDomain extends AutoCloseable {

  /** The device that it belongs to. */
  Device device();

  /**
   * Registers a buffer's bytes from position to limit. The region holds on to the memory until it
   * is closed; position and limit may be changed meanwhile, but the memory must not be freed.
   *
   * @param buffer a direct buffer; writable if {@link Access#LOCAL_WRITE} is asked for
   * @param access what may be done to it, apart from local reading
   * @throws VerbsException {@code INVALID} for heap memory, an empty buffer or rights that do not
   *     go together, {@code NO_MEMORY} beyond the device's limits
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

  @Override
  void close();
}
