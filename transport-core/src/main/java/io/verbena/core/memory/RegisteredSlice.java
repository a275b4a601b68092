// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a registered buffer, with references of its own: while it has any, it holds one of the
 * buffer.
 */
final class RegisteredSlice extends RegisteredBytes {

  RegisteredSlice(RegisteredByteBuf buffer) {
    super(0, buffer);
  }

  RegisteredSlice writerIndexAtEnd() {
    writerIndex(capacity);
    return this;
  }

  @Override
  public ByteBuf capacity(int newCapacity) {
    throw new UnsupportedOperationException("capacity of a slice: " + newCapacity);
  }

  @Override
  public ByteBuf unwrap() {
    return root;
  }

  /** Slices of one buffer may be used by several threads, so it is a new one each time. */
  @Override
  ByteBuffer exclusiveNioBuffer(int index, int length) {
    return nioBuffer(index, length);
  }

  @Override
  public ByteBuf touch() {
    root.touch(this);
    return this;
  }

  @Override
  public ByteBuf touch(@Nullable Object hint) {
    root.touch(hint);
    return this;
  }

  @Override
  protected void deallocate() {
    root.release();
  }
}
