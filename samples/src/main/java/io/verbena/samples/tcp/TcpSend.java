// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.MonoSink;

/**
 * Writes one publisher's messages. It requests {@link #BATCH} at a time, and more while the channel
 * is writable; a batch shares a flush. Confined to the event loop.
 */
final class TcpSend extends BaseSubscriber<ByteBuf> {
  static final int BATCH = 16;

  private final TcpConnection connection;
  private final Channel channel;
  private final MonoSink<Void> sink;

  private int wanted;
  private boolean flushing;

  TcpSend(TcpConnection connection, Channel channel, MonoSink<Void> sink) {
    this.connection = connection;
    this.channel = channel;
    this.sink = sink;
  }

  void requestIfWritable() {
    if (wanted == 0 && channel.isWritable() && !isDisposed()) {
      wanted = BATCH;
      request(BATCH);
    }
  }

  void fail(Throwable cause) {
    stop();
    sink.error(cause);
  }

  /** Requests no more messages. */
  void stop() {
    connection.ended(this);
    cancel();
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    requestIfWritable();
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // void promises report failures to the pipeline
  protected void hookOnNext(ByteBuf message) {
    if (!channel.eventLoop().inEventLoop()) {
      message.release();
      throw new IllegalStateException(
          "message on " + Thread.currentThread().getName() + " (expected: the event loop)");
    }
    wanted--;
    channel.write(
        channel
            .alloc()
            .directBuffer(TcpMessageDecoder.PREFIX_LENGTH)
            .writeInt(message.readableBytes()),
        channel.voidPromise());
    channel.write(message, channel.voidPromise());
    flushLater();
    requestIfWritable();
  }

  @Override
  protected void hookOnComplete() {
    ChannelFuture written = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
    written.addListener(
        done -> {
          connection.ended(this);
          if (done.isSuccess()) {
            sink.success();
          } else {
            sink.error(done.cause());
          }
        });
  }

  @Override
  protected void hookOnError(Throwable failure) {
    channel.flush();
    connection.ended(this);
    sink.error(failure);
  }

  /** Flushes after the publisher's current messages, so that they go to the socket together. */
  private void flushLater() {
    if (!flushing) {
      flushing = true;
      channel
          .eventLoop()
          .execute(
              () -> {
                flushing = false;
                channel.flush();
              });
    }
  }
}
