// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.TooLongFrameException;
import org.jspecify.annotations.Nullable;

/**
 * Splits the bytes of a socket into messages, each preceded by a length of four bytes, big-endian.
 * A message within one read is a slice of the read bytes; any other message is copied once, into a
 * separate buffer. Confined to the event loop.
 */
final class TcpMessageDecoder extends ChannelInboundHandlerAdapter {
  static final int PREFIX_LENGTH = 4;

  private final int maxLength;

  private int prefix;
  private int prefixBytes;
  private @Nullable ByteBuf partial;
  private boolean failed;

  /**
   * @param maxLength the longest message that is accepted
   */
  TcpMessageDecoder(int maxLength) {
    this.maxLength = maxLength;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf in = (ByteBuf) message;
    try {
      while (in.isReadable() && !failed) {
        decode(context, in);
      }
    } finally {
      in.release();
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (partial != null) {
      partial.release();
      partial = null;
    }
  }

  private void decode(ChannelHandlerContext context, ByteBuf in) {
    if (partial != null) {
      fill(context, partial, in);
    } else if (readPrefix(in)) {
      begin(context, in);
    }
  }

  private boolean readPrefix(ByteBuf in) {
    while (prefixBytes < PREFIX_LENGTH) {
      if (!in.isReadable()) {
        return false;
      }
      prefix = prefix << Byte.SIZE | in.readUnsignedByte();
      prefixBytes++;
    }
    return true;
  }

  private void begin(ChannelHandlerContext context, ByteBuf in) {
    int length = prefix;
    prefix = 0;
    prefixBytes = 0;
    if (length < 0 || length > maxLength) {
      failed = true;
      context.fireExceptionCaught(
          new TooLongFrameException(
              "message length: "
                  + Integer.toUnsignedString(length)
                  + " (expected: 0.."
                  + maxLength
                  + ")"));
    } else if (length <= in.readableBytes()) {
      context.fireChannelRead(in.readRetainedSlice(length));
    } else {
      partial = context.alloc().directBuffer(length, length);
      fill(context, partial, in);
    }
  }

  private void fill(ChannelHandlerContext context, ByteBuf message, ByteBuf in) {
    in.readBytes(message, Math.min(message.writableBytes(), in.readableBytes()));
    if (!message.isWritable()) {
      partial = null;
      context.fireChannelRead(message);
    }
  }
}
