// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.handler.codec.FixedLengthFrameDecoder;
import io.verbena.benchmarks.work.OtherProcess;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;

/** A Netty connection to a listener in a second process. */
final class NettyWire implements AutoCloseable {
  private final OtherProcess other;
  private final EventLoopGroup loops;
  private final Channel channel;

  /**
   * Connects.
   *
   * @param program the program of the second process, which calls {@link #listen}
   * @param size the size of messages to the second process
   * @param answer the size of messages from it
   */
  NettyWire(Class<?> program, NettyKind kind, int size, int answer, ChannelHandler handler)
      throws Exception {
    other = new OtherProcess(program, kind, size);
    loops = new MultiThreadIoEventLoopGroup(1, kind.handler());
    channel =
        kind.connector(loops, size)
            .handler(framed(answer, handler))
            .connect(kind.parse(other.line()))
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

  Channel channel() {
    return channel;
  }

  long otherCpuNanos() {
    return other.cpuNanos();
  }

  @Override
  public void close() {
    try (other) {
      channel.close().awaitUninterruptibly(NettyPair.LIMIT.toMillis());
      NettyPair.shutDown(loops);
    }
  }

  /**
   * Called in the second process: listens, prints the address, and serves one connection until the
   * process is killed.
   *
   * @param arguments the kind of its loop, and the size of the messages
   * @param making creates the end of the connection for a size of messages
   * @param beginning starts the end; the process ends if the future fails
   */
  static <T extends NettyEnd> void listen(
      String[] arguments, IntFunction<T> making, BiConsumer<T, CompletableFuture<Void>> beginning)
      throws Exception {
    OtherProcess.endWithParent();
    NettyKind kind = NettyKind.valueOf(arguments[0]);
    int size = Integer.parseInt(arguments[1]);
    CompletableFuture<Void> failed = new CompletableFuture<>();
    CompletableFuture<Void> unused =
        failed.exceptionally(
            failure -> {
              OtherProcess.fail(failure);
              return null;
            });
    T end = making.apply(size);
    beginning.accept(end, failed);
    Channel listener =
        kind.acceptor(new MultiThreadIoEventLoopGroup(1, kind.handler()), size)
            .childHandler(framed(size, end))
            .bind(kind.address())
            .sync()
            .channel();
    System.out.println(NettyKind.format(listener.localAddress()));
    listener.closeFuture().sync();
  }
}
