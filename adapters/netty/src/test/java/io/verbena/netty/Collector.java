// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32;

/** Counts the bytes that arrive and computes their checksum, and records other events. */
final class Collector extends ChannelInboundHandlerAdapter {
  final Queue<Object> events = new ConcurrentLinkedQueue<>();
  final CountDownLatch inactive = new CountDownLatch(1);
  final CountDownLatch active = new CountDownLatch(1);
  private final CRC32 crc = new CRC32();
  private volatile long bytes;
  private volatile long sum;

  long bytes() {
    return bytes;
  }

  /** The CRC-32 of all bytes so far. */
  long sum() {
    return sum;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    active.countDown();
  }

  @Override
  @SuppressWarnings("NonAtomicVolatileUpdate") // only the loop writes
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf from = (ByteBuf) message;
    int length = from.readableBytes();
    byte[] copy = new byte[length];
    from.readBytes(copy).release();
    crc.update(copy);
    sum = crc.getValue();
    bytes += length;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    events.add(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    events.add(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    inactive.countDown();
  }
}
