// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.SlicedByteBuf;

/**
 * A slice like Netty's, which shares its buffer's reference count and also knows its offset in the
 * buffer.
 */
@SuppressWarnings("deprecation")
final class RegisteredView extends SlicedByteBuf {
  private final int offset;

  RegisteredView(RegisteredBytes of, int index, int length) {
    super(of, index, length);
    offset = index;
  }

  /** Returns the offset of the slice in the {@linkplain #unwrap unwrapped} buffer. */
  int offset() {
    return offset;
  }

  @Override
  public ByteBuf retainedSlice(int index, int length) {
    checkIndex(index, length);
    return unwrap().retainedSlice(offset + index, length);
  }
}
