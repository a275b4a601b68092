// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A message at an offset of an array. */
public final class ByteArrayView implements MessageView {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final int base;
  private byte[] array = new byte[0];

  /**
   * Creates a view.
   *
   * @param base the offset of messages in their arrays
   */
  public ByteArrayView(int base) {
    this.base = base;
  }

  /** Moves the view to {@code array}; returns this view. */
  public ByteArrayView wrap(byte[] array) {
    this.array = array;
    return this;
  }

  @Override
  public long getLong(int index) {
    return (long) LONG.get(array, base + index);
  }

  @Override
  public void putLong(int index, long value) {
    LONG.set(array, base + index, value);
  }
}
