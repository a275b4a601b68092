// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.DirectMemory;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

/** The payload of the writes: {@link Job#BLOCK} bytes, different ones each time. */
final class Block {
  private Block() {}

  static ByteBuffer random() {
    ByteBuffer block = zeros();
    SplittableRandom random = new SplittableRandom();
    for (int i = 0; i < Job.BLOCK; i += Long.BYTES) {
      block.putLong(i, random.nextLong());
    }
    return block;
  }

  static ByteBuffer zeros() {
    return DirectMemory.allocate(Job.BLOCK);
  }

  static long checksum(ByteBuffer block) {
    CRC32 crc = new CRC32();
    crc.update(block.duplicate().clear());
    return crc.getValue();
  }
}
