// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.HcaException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory that clients may access by one-sided operations: the blocks, to read, and the ticket
 * counter. Registers a block on its first request. Thread-safe.
 */
final class Exports implements AutoCloseable {
  private final RdmaMemory memory;
  private final ByteBuf counter;
  private final Map<String, RdmaMemory.Region> regions = new HashMap<>();
  private RdmaMemory.@Nullable Region tickets;
  private boolean closed;

  Exports(RdmaMemory memory) {
    this.memory = memory;
    this.counter = memory.allocator().directBuffer(Long.BYTES).writeZero(Long.BYTES);
  }

  /**
   * Returns the token of the ticket counter, 8 bytes.
   *
   * @throws RefusedException if the HCA has no atomics, as an RNIC of iWARP
   */
  synchronized RemoteMemory tickets() {
    if (closed) {
      throw new RefusedException(ErrorCode.NOT_SUPPORTED, "tickets: the store is closed");
    }
    if (tickets == null) {
      try {
        tickets = memory.register(counter.nioBuffer(), Set.of(Right.ATOMIC));
      } catch (HcaException e) {
        throw new RefusedException(
            ErrorCode.NOT_SUPPORTED, "tickets: the store's HCA has no atomics (" + e + ")");
      }
    }
    return tickets.token();
  }

  /** Returns the token by which clients read this block. */
  synchronized RemoteMemory locate(Block block) {
    if (closed) {
      throw new RefusedException(ErrorCode.UNKNOWN_BLOCK, block.name());
    }
    return regions
        .computeIfAbsent(
            block.name(), name -> memory.register(block.content().nioBuffer(), Set.of(Right.READ)))
        .token();
  }

  /** Revokes every token; idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      regions.values().forEach(RdmaMemory.Region::close);
      if (tickets != null) {
        tickets.close();
      }
      counter.release();
    }
  }
}
