// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * Memory that an HCA may reach. Locked memory has a limit: {@link RdmaOptions#maxRegisteredBytes}.
 */
public interface RdmaMemory {

  /**
   * Returns an allocator of registered buffers, which connections send and receive without a copy.
   * Thread-safe. When the limit is reached it throws {@link MemoryLimitException}.
   */
  ByteBufAllocator allocator();

  /**
   * Registers a direct buffer's bytes from position to limit for peers to use.
   *
   * @param rights what peers may do
   * @throws IllegalArgumentException for heap memory, or read-only memory that peers may write
   * @throws MemoryLimitException at the limit
   */
  Region register(ByteBuffer buffer, Set<RemoteMemory.Right> rights);

  /** Returns the number of bytes that are registered now. */
  long registeredBytes();

  /** A region of memory that is registered for peers. */
  interface Region extends AutoCloseable {

    /** Returns the token to send to peers in a message. */
    RemoteMemory token();

    /**
     * Deregisters it: the token is invalid at once, and operations that use it fail. Idempotent.
     */
    @Override
    void close();
  }
}
