// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.SlicedByteBuf;

/**
 * Netty's slice that shares the references of what it is a part of, and knows where it begins,
 * which Netty's does not tell.
 */
@SuppressWarnings("deprecation")
final class RegisteredView extends SlicedByteBuf {
  private final int offset;

  RegisteredView(RegisteredBytes of, int index, int length) {
    super(of, index, length);
    offset = index;
  }

  /** Where it begins in what it {@linkplain #unwrap unwraps} to. */
  int offset() {
    return offset;
  }

  @Override
  public ByteBuf retainedSlice(int index, int length) {
    checkIndex(index, length);
    return unwrap().retainedSlice(offset + index, length);
  }
}
