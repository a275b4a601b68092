// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Tally;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/** A Netty connection one way between two processes, a fresh pooled buffer for each message. */
public final class NettyWireOneWay implements OneWay {
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(256 << 10, 512 << 10);

  private final OtherProcess other;
  private final EventLoopGroup loops;
  private final Producer producer;
  private final Channel channel;

  public NettyWireOneWay(NettyKind kind, int size) throws Exception {
    other = new OtherProcess(Sink.class, kind, size);
    loops = new MultiThreadIoEventLoopGroup(1, kind.handler());
    producer = new Producer(size);
    channel =
        new Bootstrap()
            .group(loops)
            .channel(kind.channel())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
            .handler(framed(Tally.BYTES, producer))
            .connect(TcpPingPong.at(Integer.parseInt(other.line())))
            .sync()
            .channel();
  }

  private static ChannelHandler framed(int length, ChannelHandler last) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel made) {
        made.pipeline().addLast(new FixedLengthFrameDecoder(length), last);
      }
    };
  }

  /** The check is the other process's own. */
  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    long rounded = Tally.rounded(messages);
    deadline.await(
        CompletableFuture.runAsync(
            () -> producer.begin(channel, rounded, source, done), channel.eventLoop()));
    deadline.await(done);
  }

  @Override
  public long otherCpuNanos() {
    return other.cpuNanos();
  }

  @Override
  public void close() {
    try (other) {
      channel.close().awaitUninterruptibly(NettyPair.LIMIT.toMillis());
      NettyPair.shutDown(loops);
      producer.release();
    }
  }

  /** Writes as long as the channel is writable, and flushes then. */
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
      CompletableFuture<Void> failed = new CompletableFuture<>();
      CompletableFuture<Void> unused =
          failed.exceptionally(
              failure -> {
                OtherProcess.fail(failure);
                return null;
              });
      begin(failed);
    }

    // A write that fails comes to exceptionCaught: that is what the void promise does.
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
      OtherProcess.endWithParent();
      NettyKind kind = NettyKind.valueOf(arguments[0]);
      int size = Integer.parseInt(arguments[1]);
      Channel listener =
          new ServerBootstrap()
              .group(new MultiThreadIoEventLoopGroup(1, kind.handler()))
              .channel(kind.serverChannel())
              .childOption(ChannelOption.TCP_NODELAY, true)
              .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(4 * size))
              .childHandler(framed(size, new Sink(size)))
              .bind(kind.address())
              .sync()
              .channel();
      System.out.println(((InetSocketAddress) listener.localAddress()).getPort());
      listener.closeFuture().sync();
    }
  }
}
