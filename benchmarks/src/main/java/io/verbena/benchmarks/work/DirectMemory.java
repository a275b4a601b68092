// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.nio.ByteBuffer;
import java.util.function.IntFunction;

/** Memory for messages, the same for all participants: outside the heap, on pages of its own. */
public final class DirectMemory {
  private static final int PAGE = 4096;

  private DirectMemory() {}

  /** Returns a direct buffer of {@code bytes} bytes that starts on a page. */
  public static ByteBuffer allocate(int bytes) {
    return allocate(bytes, ByteBuffer::allocateDirect);
  }

  /** Returns a page-aligned buffer of {@code bytes} bytes from another allocator. */
  public static ByteBuffer allocate(int bytes, IntFunction<ByteBuffer> from) {
    int pages = Math.addExact(bytes, PAGE - 1) / PAGE;
    ByteBuffer whole = from.apply(Math.multiplyExact(pages + 1, PAGE));
    return whole.alignedSlice(PAGE).limit(bytes).slice();
  }
}
