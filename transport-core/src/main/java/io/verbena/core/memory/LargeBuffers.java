// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import java.util.ArrayDeque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Free buffers that have a slab of their own, up to a total length; the least recently used are
 * deregistered first. Thread-safe.
 */
final class LargeBuffers {
  private static final long MOST_KEPT = 256L << 20;

  private final long limit;
  private final ArrayDeque<RegisteredByteBuf> buffers = new ArrayDeque<>();
  private long kept;

  /**
   * @param fairShare the bytes that may be kept for reuse
   */
  LargeBuffers(long fairShare) {
    limit = Math.min(fairShare, MOST_KEPT);
  }

  /**
   * Returns the length to register for this many bytes: the next multiple of an eighth of the power
   * of two below.
   */
  static int roundUp(int length) {
    long step = Integer.highestOneBit(length) >> 3;
    return (int) Math.min((length + step - 1) / step * step, Integer.MAX_VALUE);
  }

  /**
   * Removes and returns the shortest buffer that holds this many bytes and is at most half again as
   * long, or null.
   */
  synchronized @Nullable RegisteredByteBuf take(int length) {
    long best = 1L + length + (length >> 1);
    for (RegisteredByteBuf buffer : buffers) {
      best = better(buffer, length, best);
    }
    for (Iterator<RegisteredByteBuf> i = buffers.descendingIterator(); i.hasNext(); ) {
      RegisteredByteBuf buffer = i.next();
      if (buffer.block().length == best) {
        i.remove();
        kept -= best;
        return buffer;
      }
    }
    return null;
  }

  private static long better(RegisteredByteBuf buffer, int length, long best) {
    int itsLength = buffer.block().length;
    return itsLength >= length && itsLength < best ? itsLength : best;
  }

  synchronized void give(RegisteredByteBuf buffer) {
    buffers.addLast(buffer);
    kept += buffer.block().length;
    shrinkTo(limit);
  }

  synchronized void clear() {
    shrinkTo(0);
  }

  /** Returns the bytes that are kept for reuse. */
  synchronized long kept() {
    return kept;
  }

  private void shrinkTo(long most) {
    for (Iterator<RegisteredByteBuf> i = buffers.iterator(); kept > most && i.hasNext(); ) {
      Block block = i.next().block();
      i.remove();
      kept -= block.length;
      block.slab().close();
    }
  }
}
