// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.SlicedByteBuf;

/**
 * A slice as Netty's, which shares the references of its buffer and also knows its offset in it.
 */
@SuppressWarnings("deprecation")
final class RegisteredView extends SlicedByteBuf {
  private final int offset;

  RegisteredView(RegisteredBytes of, int index, int length) {
    super(of, index, length);
    offset = index;
  }

  /** Returns where it begins in what it {@linkplain #unwrap unwraps} to. */
  int offset() {
    return offset;
  }

  @Override
  public ByteBuf retainedSlice(int index, int length) {
    checkIndex(index, length);
    return unwrap().retainedSlice(offset + index, length);
  }
}
