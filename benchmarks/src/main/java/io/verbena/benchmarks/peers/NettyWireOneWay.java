// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.Tally;
import java.util.concurrent.CompletableFuture;

/** A Netty connection one way between two processes, a new pooled buffer for each message. */
public final class NettyWireOneWay implements OneWay {
  private final Producer producer;
  private final NettyWire wire;

  public NettyWireOneWay(NettyKind kind, int size) throws Exception {
    producer = new Producer(size);
    wire = new NettyWire(Sink.class, kind, size, Tally.BYTES, producer);
  }

  /** {@inheritDoc} The other process uses a check of its own. */
  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    long rounded = Tally.rounded(messages);
    Channel channel = wire.channel();
    deadline.await(
        CompletableFuture.runAsync(
            () -> producer.begin(channel, rounded, source, done), channel.eventLoop()));
    deadline.await(done);
  }

  @Override
  public long otherCpuNanos() {
    return wire.otherCpuNanos();
  }

  @Override
  public void close() {
    wire.close();
    producer.release();
  }

  /** Writes as long as the channel is writable, then flushes. */
  private static final class Producer extends NettyEnd {
    private MessageSource source;
    private long sent;
    private long end;

    Producer(int size) {
      super(size);
      source = new MessageSource(size);
    }

    void begin(Channel to, long messages, MessageSource by, CompletableFuture<Void> done) {
      begin(done);
      source = by;
      end = sent + messages;
      pump(to);
    }

    private void pump(Channel to) {
      while (sent < end && to.isWritable()) {
        source.next(outgoing);
        write(to);
        sent++;
        if (sent == end || !to.isWritable()) {
          to.flush();
        }
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      pump(context.channel());
    }

    @Override
    void accept(Channel from, ByteBufView tally, int length) {
      if (tally.getLong(0) == end) {
        finish();
      }
    }
  }

  /** The end in the other process. */
  static final class Sink extends NettyEnd {
    private final MessageCheck check;
    private long taken;

    private Sink(int size) {
      super(size);
      check = new MessageCheck(size);
    }

    // The void promise passes a failed write to exceptionCaught.
    @SuppressWarnings("FutureReturnValueIgnored")
    @Override
    void accept(Channel from, ByteBufView message, int length) {
      check.accept(message, length);
      if (++taken % Tally.EVERY == 0) {
        ByteBuf tally = from.alloc().directBuffer(Tally.BYTES).writeLong(taken);
        from.writeAndFlush(tally, from.voidPromise());
      }
    }

    /** Arguments: the kind of its loop, and the size of the messages. */
    public static void main(String[] arguments) throws Exception {
      NettyWire.listen(arguments, Sink::new, NettyEnd::begin);
    }
  }
}
