// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;

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

  private TestMessage() {}

  static ByteBuf write(ByteBuf into, int send, int index, int length) {
    into.writeInt(send).writeInt(index);
    for (int i = MIN_LENGTH; i < length; i++) {
      into.writeByte(send * 31 + index * 7 + i);
    }
    return into;
  }

  static int send(ByteBuf message) {
    return message.getInt(message.readerIndex());
  }

  static int index(ByteBuf message) {
    return message.getInt(message.readerIndex() + Integer.BYTES);
  }

  static boolean isIntact(ByteBuf message) {
    int start = message.readerIndex();
    int send = send(message);
    int index = index(message);
    for (int i = MIN_LENGTH; i < message.readableBytes(); i++) {
      if (message.getByte(start + i) != (byte) (send * 31 + index * 7 + i)) {
        return false;
      }
    }
    return true;
  }
}
