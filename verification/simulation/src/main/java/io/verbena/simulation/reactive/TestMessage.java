// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * The layout of a message: the number of its send, its index in that send, and a pattern that
 * depends on both.
 *
 * <pre>
 *  int 0  send
 *      1  index
 *      2  pattern up to the end
 * </pre>
 */
final class TestMessage {
  static final int MIN_LENGTH = 2 * Integer.BYTES;

  private static final int PERIOD = 256;
  private static final int MAX_LENGTH = 1 << 17;

  /** The pattern of all messages; each message begins at its own offset in it. */
  private static final ByteBuf PATTERN = Unpooled.buffer(PERIOD + MAX_LENGTH);

  static {
    for (int i = 0; i < PERIOD + MAX_LENGTH; i++) {
      PATTERN.writeByte(i);
    }
  }

  private TestMessage() {}

  private static int offset(int send, int index) {
    return (send * 31 + index * 7) & (PERIOD - 1);
  }

  static ByteBuf write(ByteBuf into, int send, int index, int length) {
    return into.writeInt(send)
        .writeInt(index)
        .writeBytes(PATTERN, offset(send, index), length - MIN_LENGTH);
  }

  static int send(ByteBuf message) {
    return message.getInt(message.readerIndex());
  }

  static int index(ByteBuf message) {
    return message.getInt(message.readerIndex() + Integer.BYTES);
  }

  static boolean isIntact(ByteBuf message) {
    return ByteBufUtil.equals(
        PATTERN,
        offset(send(message), index(message)),
        message,
        message.readerIndex() + MIN_LENGTH,
        message.readableBytes() - MIN_LENGTH);
  }
}
