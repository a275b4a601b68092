// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * Memory that is registered with an HCA, up to {@link RdmaOptions#maxRegisteredBytes}. Thread-safe.
 */
public interface RdmaMemory {

  /**
   * Returns an allocator of registered buffers, which connections send and receive without a copy.
   * The allocator is thread-safe, and throws {@link MemoryLimitException} when the limit is
   * reached.
   */
  ByteBufAllocator allocator();

  /**
   * Registers a direct buffer's bytes from position to limit for peers to use.
   *
   * @param rights the operations that peers may do, at least one
   * @throws IllegalArgumentException for heap memory, an empty buffer, no rights, or read-only
   *     memory that peers may write
   * @throws MemoryLimitException if the limit is reached
   * @throws HcaException if the HCA refuses
   */
  Region register(ByteBuffer buffer, Set<RemoteMemory.Right> rights);

  /** Returns the number of bytes that are registered now. */
  long registeredBytes();

  /** A region of memory that is registered for peers. */
  interface Region extends AutoCloseable {

    /** Returns the token to send to peers in a message. */
    RemoteMemory token();

    /**
     * Deregisters the memory: the token is invalid at once, and operations that use it fail.
     * Idempotent.
     */
    @Override
    void close();
  }
}
