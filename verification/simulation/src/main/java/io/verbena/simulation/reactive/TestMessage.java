package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;

/**
 * What a message of a run consists of: which send it is of, which one of that, and bytes that
 * depend on both.
 *
 * <pre>
 *  int 0  send
 *      1  number
 *      2  bytes up to the end
 * </pre>
 */
final class TestMessage {
  static final int LEAST_LENGTH = 2 * Integer.BYTES;

  private TestMessage() {}

  static ByteBuf write(ByteBuf into, int send, int number, int length) {
    into.writeInt(send).writeInt(number);
    for (int i = LEAST_LENGTH; i < length; i++) {
      into.writeByte(send * 31 + number * 7 + i);
    }
    return into;
  }

  static int send(ByteBuf message) {
    return message.getInt(message.readerIndex());
  }

  static int number(ByteBuf message) {
    return message.getInt(message.readerIndex() + Integer.BYTES);
  }

  static boolean isWhole(ByteBuf message) {
    int start = message.readerIndex();
    int send = send(message);
    int number = number(message);
    for (int i = LEAST_LENGTH; i < message.readableBytes(); i++) {
      if (message.getByte(start + i) != (byte) (send * 31 + number * 7 + i)) {
        return false;
      }
    }
    return true;
  }
}
