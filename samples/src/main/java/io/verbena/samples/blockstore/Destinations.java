// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Buffers for whole blocks, one for each client. Both twins fill the same buffers, so that neither
 * has the cost of new memory.
 */
final class Destinations implements AutoCloseable {
  private final List<ByteBuf> buffers = new ArrayList<>();

  Destinations(ByteBufAllocator allocator, int count, int length) {
    try {
      for (int i = 0; i < count; i++) {
        buffers.add(allocator.directBuffer(length, length));
      }
      wipe();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  int count() {
    return buffers.size();
  }

  ByteBuf get(int index) {
    return buffers.get(index);
  }

  /** Empties and overwrites the buffers, so that old bytes cannot pass for new ones. */
  void wipe() {
    for (ByteBuf buffer : buffers) {
      buffer.clear();
      buffer.setZero(0, buffer.capacity());
    }
  }

  /** The digest of each, computed on all cores. */
  List<Sha256> digests() {
    return buffers.parallelStream().map(Sha256::of).toList();
  }

  @Override
  public void close() {
    buffers.forEach(ByteBuf::release);
    buffers.clear();
  }
}
