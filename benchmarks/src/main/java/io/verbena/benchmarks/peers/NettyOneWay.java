// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A Netty connection one way, with a new pooled buffer for each message; flushes when the channel
 * is no longer writable. A local channel is always writable, so the receiver's count bounds the
 * number of unreceived messages there.
 */
public final class NettyOneWay implements OneWay {
  private static final int WAITING_BYTES = 2 << 20;
  private static final int MOST_WAITING = 8192;

  private final Consumer consumer;
  private final Producer producer;
  private final NettyPair pair;

  public NettyOneWay(NettyKind kind, int size) throws Exception {
    long window = kind.isLocal() ? Math.min(WAITING_BYTES / size, MOST_WAITING) : Long.MAX_VALUE;
    producer = new Producer(size, window);
    consumer = new Consumer(size, kind.isLocal() ? window / 2 : Long.MAX_VALUE, producer);
    pair = new NettyPair(kind, size, producer, consumer);
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Channel atServer = pair.server();
    Channel atClient = pair.client();
    deadline.await(
        CompletableFuture.runAsync(
            () -> consumer.begin(atClient, messages, check, done), atServer.eventLoop()));
    deadline.await(
        CompletableFuture.runAsync(
            () -> producer.begin(atClient, messages, source, done), atClient.eventLoop()));
    deadline.await(done);
  }

  @Override
  public void close() {
    pair.close();
    producer.release();
    consumer.release();
  }

  private static final class Producer extends NettyEnd {
    private static final int FLUSH_EVERY = 64;

    private final AtomicLong taken = new AtomicLong();
    private final long window;
    private MessageSource source;
    private long messages;
    private long sent;
    private boolean pumping;

    private Producer(int size, long window) {
      super(size);
      this.window = window;
      this.source = new MessageSource(size);
    }

    private void begin(
        Channel channel, long messages, MessageSource source, CompletableFuture<Void> done) {
      begin(done);
      this.source = source;
      this.messages = messages;
      this.sent = 0;
      pump(channel);
    }

    /** Writes messages as long as allowed. Called again when more are allowed. */
    private void pump(Channel channel) {
      if (pumping) {
        return;
      }
      pumping = true;
      long written = sent;
      while (sent < messages && channel.isWritable() && sent - taken.get() < window) {
        source.next(outgoing);
        write(channel);
        sent++;
        // A flush makes the channel writable again if the socket accepts the bytes.
        if (!channel.isWritable() || (window != Long.MAX_VALUE && sent % FLUSH_EVERY == 0)) {
          channel.flush();
          written = sent;
        }
      }
      if (sent != written) {
        channel.flush();
      }
      pumping = false;
    }

    @Override
    void accept(Channel channel, ByteBufView message, int length) {
      throw new IllegalStateException("messages to the producer: 1 (expected: 0)");
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (context.channel().isWritable() && sent < messages) {
        pump(context.channel());
      }
    }
  }

  private static final class Consumer extends NettyEnd {
    private final long reportEvery;
    private final Producer producer;
    private Runnable resume = () -> {};
    private Executor atClient = Runnable::run;
    private MessageCheck check;
    private long messages;
    private long taken;

    private Consumer(int size, long reportEvery, Producer producer) {
      super(size);
      this.reportEvery = reportEvery;
      this.producer = producer;
      this.check = new MessageCheck(size);
    }

    private void begin(
        Channel atClient, long messages, MessageCheck check, CompletableFuture<Void> done) {
      begin(done);
      this.atClient = atClient.eventLoop();
      this.resume = () -> producer.pump(atClient);
      this.check = check;
      this.messages = messages;
      this.taken = 0;
      producer.taken.set(0);
    }

    @Override
    void accept(Channel channel, ByteBufView message, int length) {
      check.accept(message, length);
      if (++taken == messages) {
        check.whole(message);
        finish();
      } else if (taken % reportEvery == 0) {
        producer.taken.lazySet(taken);
        atClient.execute(resume);
      }
    }
  }
}
