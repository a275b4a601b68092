// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a registered buffer, with its own reference count; holds one reference of the buffer
 * until its own are released.
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

  /** Returns a new buffer each time, because several threads may use slices of one buffer. */
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
