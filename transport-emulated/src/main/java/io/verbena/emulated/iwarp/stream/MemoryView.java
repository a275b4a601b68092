// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import java.nio.ByteBuffer;

/**
 * A part of registered memory, as a buffer with a position and a limit of its own. Reusable;
 * allocates only when it changes to another region. Not thread-safe.
 */
public final class MemoryView {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private ByteBuffer memory = NOTHING;
  private ByteBuffer bytes = NOTHING;

  /** Shows {@code length} bytes of memory from {@code offset} on. */
  @SuppressWarnings("ReferenceEquality") // buffers with equal bytes may be different memory
  public void show(ByteBuffer of, int offset, int length) {
    if (memory != of) {
      memory = of;
      bytes = of.duplicate();
    }
    bytes.limit(offset + length).position(offset);
  }

  /** Returns the part, from position to limit. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** Drops its references, so that the memory can be collected. */
  void clear() {
    memory = NOTHING;
    bytes = NOTHING;
  }
}
