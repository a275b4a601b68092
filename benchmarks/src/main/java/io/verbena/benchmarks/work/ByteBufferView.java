// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.nio.ByteBuffer;

/** A message at an offset of a big-endian NIO buffer. */
public final class ByteBufferView implements MessageView {
  private ByteBuffer buffer;
  private int base;

  public ByteBufferView(ByteBuffer buffer, int base) {
    this.buffer = buffer;
    this.base = base;
  }

  /** Moves the view to {@code base} of {@code buffer}; returns this view. */
  public ByteBufferView wrap(ByteBuffer buffer, int base) {
    this.buffer = buffer;
    this.base = base;
    return this;
  }

  @Override
  public long getLong(int index) {
    return buffer.getLong(base + index);
  }

  @Override
  public void putLong(int index, long value) {
    buffer.putLong(base + index, value);
  }
}
