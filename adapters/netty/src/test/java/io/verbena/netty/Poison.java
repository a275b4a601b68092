// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import java.util.Arrays;

/**
 * Overwrites a buffer as soon as its write has succeeded, before other listeners run, as the owner
 * of the buffer may do: bytes that the HCA still reads then are corrupt. Leaves the buffer
 * unchanged if the channel has ended its output meanwhile: such writes succeed before they are
 * sent, and their bytes must not change, as the page about differences from sockets says.
 */
final class Poison extends ChannelOutboundHandlerAdapter {
  private static final byte[] BYTES = new byte[1 << 16];

  static {
    Arrays.fill(BYTES, (byte) 0xdb);
  }

  private static boolean ended(ChannelHandlerContext context) {
    return context.channel() instanceof DuplexChannel channel && channel.isOutputShutdown();
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (message instanceof ByteBuf buffer && !buffer.isReadOnly()) {
      int start = buffer.readerIndex();
      int end = buffer.writerIndex();
      ByteBuf owned = buffer.retainedDuplicate();
      ChannelPromise told = context.newPromise();
      told.addListener(
          done -> {
            if (done.isSuccess() && !ended(context)) {
              for (int i = start; i < end; i += BYTES.length) {
                owned.setBytes(i, BYTES, 0, Math.min(BYTES.length, end - i));
              }
            }
            owned.release();
            if (done.isSuccess()) {
              promise.trySuccess();
            } else {
              promise.tryFailure(done.cause());
            }
          });
      ChannelFuture unused = context.write(message, told);
    } else {
      ChannelFuture unused = context.write(message, promise);
    }
  }
}
