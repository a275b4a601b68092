// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.verbena.PollMode;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how sockets on a loop with an HCA end, alone and with their loop. */
@Tag("once")
class SocketsEndTest {
  private static void awaitZero(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
  }

  private static boolean isFree(SocketAddress address) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(address);
      return true;
    } catch (BindException e) {
      return false;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The selector frees the port; a loop that polls its HCA runs the selector only now and then. */
  @Test
  void aSocketThatIsClosedFreesItsPortWithinATurn() throws Exception {
    LoopTurns turns = new LoopTurns();
    IoHandlerFactory handlers = SocketLoop.handlers(PollMode.BUSY, NioIoHandler.newFactory());
    try (SocketLoop loop = new SocketLoop(SocketKind.NIO, turns.of(handlers))) {
      for (int i = 0; i < 10; i++) {
        Channel server = loop.bindSocket(new Echo());
        SocketAddress address = server.localAddress();
        CompletableFuture<Boolean> freed = new CompletableFuture<>();

        loop.loop()
            .execute(
                () -> {
                  ChannelFuture unused = server.close();
                  turns.afterNext(() -> freed.complete(isFree(address)));
                });

        assertThat(freed.get(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      }
    }
  }

  /** Returns a handler that ends its channel's output when the channel becomes active. */
  private static ChannelInboundHandlerAdapter ending(CountDownLatch ended) {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelActive(ChannelHandlerContext context) {
        ((SocketChannel) context.channel()).shutdownOutput().addListener(done -> ended.countDown());
      }
    };
  }

  private static ChannelInitializer<Channel> reading(Collector received) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.config().setAutoRead(false);
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        channel.pipeline().addLast(received);
      }
    };
  }

  /**
   * NIO notices the peer's end only by a read, with any loop. Netty's {@code
   * testAllDataReadEventTriggeredAfterHalfClosure} expects the event without a read, and therefore
   * excludes loops with a {@link NioIoHandler}, which it recognizes by class.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSocketOfNioTellsThatItsPeerHasEndedOnceItIsRead(boolean besideRdma) throws Exception {
    IoHandlerFactory nio = NioIoHandler.newFactory();
    Collector received = new Collector();
    CountDownLatch ended = new CountDownLatch(1);
    try (SocketLoop loop =
        new SocketLoop(
            SocketKind.NIO, besideRdma ? SocketLoop.handlers(PollMode.EVENT, nio) : nio)) {
      Channel client = loop.connectSocket(loop.bindSocket(ending(ended)), reading(received));
      awaitZero(ended);
      Echo beside = new Echo();
      Channel exchanging = loop.connectSocket(loop.bindSocket(new Echo()), beside);
      CountDownLatch exchanged = beside.await(10);
      Echo.start(exchanging);
      awaitZero(exchanged);
      assertThat(received.events).isEmpty();

      client.read();

      await().atMost(Ends.LIMIT).until(() -> !received.events.isEmpty());
      assertThat(received.events).containsExactly(ChannelInputShutdownEvent.INSTANCE);
      client.read();
      await().atMost(Ends.LIMIT).until(() -> received.events.size() == 2);
      assertThat(received.events).contains(ChannelInputShutdownReadComplete.INSTANCE);
      assertThat(client.isOpen()).isTrue();
    }
  }

  /** Without a quiet period such a loop runs no further turn. */
  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void aLoopThatEndsBehindATaskClosesItsChannelsBefore(SocketKind kind) throws Exception {
    SocketKinds.assumeAvailable(kind);
    Collector rdma = new Collector();
    Collector socket = new Collector();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    try (SocketLoop loop = new SocketLoop(kind, PollMode.EVENT)) {
      loop.connectRdma(loop.bindRdma(new Echo()), rdma);
      loop.connectSocket(loop.bindSocket(new Echo()), socket);
      Future<Boolean> task =
          loop.loop()
              .submit(
                  () -> {
                    running.countDown();
                    return mayGoOn.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                  });
      awaitZero(running);

      Future<?> end = loop.end();
      mayGoOn.countDown();

      assertThat(end.await(Ends.LIMIT.toMillis())).isTrue();
      assertThat(task.getNow()).isTrue();
      assertThat(rdma.inactive.getCount()).isZero();
      assertThat(socket.inactive.getCount()).isZero();
    } finally {
      mayGoOn.countDown();
    }
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void aLoopThatHasRefusedASocketEndsAsOthersDo(SocketKind kind) throws Exception {
    SocketKinds.assumeAvailable(kind);
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    try (SocketLoop loop = new SocketLoop(kind, PollMode.EVENT)) {
      Thread thread = loop.loop().submit(Thread::currentThread).get();
      thread.setUncaughtExceptionHandler((of, failure) -> failures.add(failure));
      assertThat(loop.loop().register(new LocalChannel()).awaitUninterruptibly().isSuccess())
          .isFalse();

      assertThat(loop.end().await(Ends.LIMIT.toMillis())).isTrue();

      // The loop's thread ends a little later.
      thread.join(Ends.LIMIT.toMillis());
      assertThat(thread.isAlive()).isFalse();
      assertThat(failures).isEmpty();
    }
  }
}
