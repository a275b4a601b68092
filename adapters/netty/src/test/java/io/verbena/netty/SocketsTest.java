// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramPacket;
import io.verbena.PollMode;
import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests RDMA channels and sockets on one loop. */
class SocketsTest {
  private static final String NIO = "io.netty.channel.nio.NioIoHandler";
  private static final int ROUNDS = Addresses.rounds(500);
  private static final int FEW_ROUNDS = Addresses.rounds(100);

  static Stream<Arguments> loops() {
    return Stream.of(SocketKind.values())
        .flatMap(kind -> Stream.of(PollMode.values()).map(mode -> Arguments.of(kind, mode)));
  }

  /**
   * Returns the loops without busy polling: two busy loops that wait for each other need two CPUs.
   */
  static Stream<Arguments> sleepingLoops() {
    return loops().filter(loop -> loop.get()[1] != PollMode.BUSY);
  }

  private static SocketLoop open(SocketKind kind, PollMode mode) {
    SocketKinds.assumeAvailable(kind);
    return new SocketLoop(kind, mode);
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
        .as("%d messages are missing", latch.getCount())
        .isTrue();
  }

  @ParameterizedTest
  @MethodSource("loops")
  void channelsOfAllKindsShareAThread(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode)) {
      Echo rdma = new Echo();
      Echo socket = new Echo();
      Echo datagrams = new Echo();
      Channel rdmaClient = loop.connectRdma(loop.bindRdma(new Echo()), rdma);
      Channel socketClient = loop.connectSocket(loop.bindSocket(new Echo()), socket);
      Channel server = loop.bindDatagrams(new Echo());
      Channel datagramClient = loop.bindDatagrams(datagrams);
      CountDownLatch overRdma = rdma.await(FEW_ROUNDS);
      CountDownLatch overSockets = socket.await(FEW_ROUNDS);
      CountDownLatch overDatagrams = datagrams.await(FEW_ROUNDS);

      Echo.start(rdmaClient);
      Echo.start(socketClient);
      datagramClient
          .writeAndFlush(
              new DatagramPacket(
                  Unpooled.wrappedBuffer(new byte[1]), (InetSocketAddress) server.localAddress()))
          .syncUninterruptibly();

      await(overRdma);
      await(overSockets);
      await(overDatagrams);
      assertThat(rdma.threads).hasSize(1).isEqualTo(socket.threads).isEqualTo(datagrams.threads);
    }
  }

  @ParameterizedTest
  @MethodSource("loops")
  void busyRdmaChannelsLeaveTimeToSockets(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode)) {
      Channel rdma = loop.bindRdma(new Echo());
      for (int i = 0; i < 16; i++) {
        Echo.start(loop.connectRdma(rdma, new Echo()));
      }
      Echo socket = new Echo();
      Channel client = loop.connectSocket(loop.bindSocket(new Echo()), socket);
      CountDownLatch exchanged = socket.await(FEW_ROUNDS);

      Echo.start(client);

      await(exchanged);
    }
  }

  @ParameterizedTest
  @MethodSource("loops")
  void busySocketsLeaveTimeToRdmaChannels(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode)) {
      Channel sockets = loop.bindSocket(new Echo());
      for (int i = 0; i < 16; i++) {
        Echo.start(loop.connectSocket(sockets, new Echo()));
      }
      Echo rdma = new Echo();
      Channel client = loop.connectRdma(loop.bindRdma(new Echo()), rdma);
      CountDownLatch exchanged = rdma.await(FEW_ROUNDS);

      Echo.start(client);

      await(exchanged);
    }
  }

  /** Both loops sleep until the other one answers. */
  @ParameterizedTest
  @MethodSource("sleepingLoops")
  @Tag("once")
  void noWakeUpByACompletionIsLost(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode);
        SocketLoop other = open(kind, mode)) {
      loop.bindSocket(new Echo());
      other.bindSocket(new Echo());
      Echo echo = new Echo();
      Channel client = other.connectRdma(loop.bindRdma(new Echo()), echo);
      CountDownLatch exchanged = echo.await(ROUNDS);

      Echo.start(client);

      await(exchanged);
    }
  }

  @ParameterizedTest
  @MethodSource("sleepingLoops")
  @Tag("once")
  void noWakeUpByASocketIsLost(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode);
        SocketLoop other = open(kind, mode)) {
      Echo echo = new Echo();
      Channel client = other.connectSocket(loop.bindSocket(new Echo()), echo);
      CountDownLatch exchanged = echo.await(ROUNDS);

      Echo.start(client);

      await(exchanged);
    }
  }

  /** Each thread submits one task at a time, so that no other task wakes the loop. */
  @ParameterizedTest
  @MethodSource("loops")
  @Tag("once")
  void noWakeUpByATaskIsLost(SocketKind kind, PollMode mode) throws Exception {
    try (SocketLoop loop = open(kind, mode)) {
      loop.bindSocket(new Echo());
      EventLoop to = loop.loop();
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        threads.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int task = 0; task < ROUNDS; task++) {
                    assertThat(to.submit(() -> {}).awaitUninterruptibly(Ends.LIMIT.toMillis()))
                        .as("task %d ran", task)
                        .isTrue();
                  }
                }));
      }

      for (CompletableFuture<Void> thread : threads) {
        thread.get(2 * Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  /** The kernel sees a write when the handler runs; a loop that polls its HCA runs it rarely. */
  @Test
  @Tag("once")
  void whatASocketOfIoUringWritesLeavesWithinATurn() throws Exception {
    SocketKinds.assumeAvailable(SocketKind.IO_URING);
    LoopTurns turns = new LoopTurns();
    IoHandlerFactory handlers =
        SocketLoop.handlers(PollMode.BUSY, SocketKind.IO_URING.factory().handlers());
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        SocketLoop loop = new SocketLoop(SocketKind.IO_URING, turns.of(handlers))) {
      Channel client = loop.connectSocket(server.getLocalSocketAddress(), new Echo());
      try (Socket peer = server.accept()) {
        InputStream received = peer.getInputStream();
        for (int i = 0; i < 10; i++) {
          CompletableFuture<Boolean> came = new CompletableFuture<>();

          loop.loop()
              .execute(
                  () -> {
                    ChannelFuture unused =
                        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
                    turns.afterNext(() -> came.complete(hasByte(received)));
                  });

          assertThat(came.get(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
          assertThat(received.read()).isZero();
        }
      }
    }
  }

  private static boolean hasByte(InputStream from) {
    try {
      return from.available() > 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLoopWithoutSocketsOpensNoHandlerForThem() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    IoHandlerFactory nio = NioIoHandler.newFactory();
    IoHandlerFactory counted =
        executor -> {
          opened.incrementAndGet();
          return nio.newHandler(executor);
        };
    try (SocketLoop loop =
        new SocketLoop(SocketKind.NIO, SocketLoop.handlers(PollMode.EVENT, counted))) {
      Echo rdma = new Echo();
      Channel client = loop.connectRdma(loop.bindRdma(new Echo()), rdma);
      CountDownLatch exchanged = rdma.await(10);
      Echo.start(client);
      await(exchanged);
      assertThat(opened).hasValue(0);

      loop.bindSocket(new Echo());
      loop.bindDatagrams(new Echo());

      assertThat(opened).hasValue(1);
    }
  }

  @Test
  void refusesAChannelThatNeitherTakes() {
    try (SocketLoop loop = open(SocketKind.NIO, PollMode.EVENT)) {
      LocalChannel channel = new LocalChannel();

      assertThat(loop.loop().register(channel).awaitUninterruptibly().cause())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(LocalChannel.class.getName())
          .hasMessageContaining("expected: an RDMA channel's, or one that " + NIO + " takes");
      assertThat(channel.isOpen()).isFalse();
    }
  }

  @Test
  void refusesAHandleThatNeitherTakes() {
    try (SocketLoop loop = open(SocketKind.NIO, PollMode.EVENT)) {
      assertThatThrownBy(
              () -> ((IoEventLoop) loop.loop()).register(new UnknownHandle()).syncUninterruptibly())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(UnknownHandle.class.getName())
          .hasMessageContaining("expected: an RDMA channel's, or one that " + NIO + " takes");
    }
  }

  private static final class UnknownHandle implements IoHandle {
    @Override
    public void handle(IoRegistration registration, IoEvent event) {
      throw new AssertionError("it is registered nowhere");
    }

    @Override
    public void close() {}
  }

  @ParameterizedTest
  @MethodSource("loops")
  void closesAllChannelsWhileTheyAreBusy(SocketKind kind, PollMode mode) {
    List<Channel> channels = new ArrayList<>();
    try (SocketLoop loop = open(kind, mode)) {
      Channel rdma = loop.bindRdma(new Echo());
      Channel socket = loop.bindSocket(new Echo());
      for (int i = 0; i < 8; i++) {
        channels.add(loop.connectRdma(rdma, new Echo()));
        channels.add(loop.connectSocket(socket, new Echo()));
      }
      channels.forEach(Echo::start);
      channels.add(rdma);
      channels.add(socket);
    }

    assertThat(channels).noneMatch(Channel::isOpen);
  }
}
