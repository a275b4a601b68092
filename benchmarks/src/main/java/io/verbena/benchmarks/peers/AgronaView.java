// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import static java.nio.ByteOrder.BIG_ENDIAN;

import io.verbena.benchmarks.work.MessageView;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A message at an offset of an Agrona buffer. Writable only if the buffer is a {@link
 * MutableDirectBuffer}.
 */
final class AgronaView implements MessageView {
  private DirectBuffer buffer = new UnsafeBuffer(0, 0);
  private int base;

  AgronaView wrap(DirectBuffer buffer, int base) {
    this.buffer = buffer;
    this.base = base;
    return this;
  }

  @Override
  public long getLong(int index) {
    return buffer.getLong(base + index, BIG_ENDIAN);
  }

  @Override
  public void putLong(int index, long value) {
    ((MutableDirectBuffer) buffer).putLong(base + index, value, BIG_ENDIAN);
  }
}
