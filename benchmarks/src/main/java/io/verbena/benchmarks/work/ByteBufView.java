// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** A message that starts at the reader index of a Netty buffer. The view owns no reference. */
public final class ByteBufView implements MessageView {
  private ByteBuf buffer = Unpooled.EMPTY_BUFFER;
  private int base;

  /** Moves the view to the reader index of {@code buffer}; returns this view. */
  public ByteBufView wrap(ByteBuf buffer) {
    this.buffer = buffer;
    this.base = buffer.readerIndex();
    return this;
  }

  @Override
  public long getLong(int index) {
    return buffer.getLong(base + index);
  }

  @Override
  public void putLong(int index, long value) {
    buffer.setLong(base + index, value);
  }
}
