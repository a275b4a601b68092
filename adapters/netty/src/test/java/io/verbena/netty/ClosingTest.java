// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how connections end: written bytes arrive, and nothing leaks. */
class ClosingTest {
  private static boolean within(CountDownLatch latch) throws InterruptedException {
    return latch.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  @RepeatedTest(10)
  void whatWasWrittenBeforeACloseArrivesEvenIfNobodyReadsYet() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received).childOption(ChannelOption.AUTO_READ, false));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      client
          .writeAndFlush(Unpooled.copiedBuffer(new byte[10_000]))
          .addListener(ChannelFutureListener.CLOSE);
      assertThat(client.closeFuture().await(Ends.LIMIT.toMillis())).isTrue();
      SocketChannel accepted = ends.accepted();
      assertThat(within(received.active)).isTrue();
      assertThat(received.bytes()).isZero();

      accepted.config().setAutoRead(true);

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10_000);
      assertThat(within(received.inactive)).isTrue();
      assertThat(received.events).isEmpty();
    }
  }

  /**
   * On a socket the first write after the peer's end succeeds, so its result does not matter here.
   */
  @RepeatedTest(5)
  void whatCameBeforeThePeersEndIsReadThoughAWriteFails() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(new Collector()));
      SocketChannel client = Ends.connect(ends.client(received), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);

      ChannelFuture write = writeBehindTheEnd(client, accepted);

      assertThat(within(received.inactive)).isTrue();
      assertThat(received.bytes()).isEqualTo(10);
      assertThat(write.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    }
  }

  /** A channel that does not read must not keep a write waiting. */
  @Test
  void aWriteBehindThePeersEndFailsAtOnceWhereNobodyReads() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(new Collector()));
      SocketChannel client =
          Ends.connect(ends.client(received).option(ChannelOption.AUTO_READ, false), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);

      ChannelFuture write = writeBehindTheEnd(client, accepted);

      assertThat(write.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(write.cause()).isInstanceOf(IOException.class);
      assertThat(client.isOpen()).isFalse();
      assertThat(received.bytes()).isZero();
    }
  }

  /** Writes in one task of the loop, during which the peer writes and closes. */
  private static ChannelFuture writeBehindTheEnd(SocketChannel client, SocketChannel peer) {
    AtomicReference<ChannelFuture> write = new AtomicReference<>();
    Stream stream = requireNonNull(((RdmaSocketChannel) client).stream());
    client
        .eventLoop()
        .submit(
            () -> {
              ChannelFuture unused = peer.writeAndFlush(Unpooled.copiedBuffer(new byte[10]));
              peer.close().syncUninterruptibly();
              await().pollInSameThread().atMost(Ends.LIMIT).until(() -> stream.failure() != null);
              write.set(client.writeAndFlush(Unpooled.copiedBuffer(new byte[1])));
            })
        .syncUninterruptibly();
    return write.get();
  }

  /** As on a socket, whose kernel buffers the bytes: more than the peer has receives for. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsFlushedAsTheOutputEndsArrivesThoughThePeerReadsLater(boolean closes) throws Exception {
    Collector received = new Collector();
    CRC32 sum = new CRC32();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received).childOption(ChannelOption.AUTO_READ, false));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      List<ChannelFuture> writes = new ArrayList<>();
      client
          .eventLoop()
          .submit(
              () -> {
                for (int i = 0; i < 100; i++) {
                  byte[] bytes = new byte[i % 3 == 0 ? 7000 : 100];
                  Arrays.fill(bytes, (byte) i);
                  sum.update(bytes);
                  writes.add(client.write(client.alloc().directBuffer().writeBytes(bytes)));
                }
                client.flush();
                writes.add(closes ? client.close() : client.shutdownOutput());
              })
          .syncUninterruptibly();
      for (ChannelFuture each : writes) {
        each.syncUninterruptibly();
      }

      accepted.config().setAutoRead(true);

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 34 * 7000 + 66 * 100);
      assertThat(received.sum()).isEqualTo(sum.getValue());
      assertThat(within(received.inactive)).isTrue();
      assertThat(received.events).isEmpty();
    }
  }

  /** The other writes are in the same message as the first, and still in the channel's queue. */
  @Test
  void whatIsSentAsAListenerClosesTheChannelArrivesOnce() throws Exception {
    Collector received = new Collector();
    CRC32 sum = new CRC32();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      List<ChannelFuture> writes = new ArrayList<>();
      client
          .eventLoop()
          .submit(
              () -> {
                for (int i = 0; i < 100; i++) {
                  byte[] bytes = new byte[100];
                  Arrays.fill(bytes, (byte) i);
                  sum.update(bytes);
                  writes.add(client.write(Unpooled.copiedBuffer(bytes)));
                }
                writes.get(0).addListener(ChannelFutureListener.CLOSE);
                client.flush();
              })
          .syncUninterruptibly();

      assertThat(within(received.inactive)).isTrue();
      for (ChannelFuture each : writes) {
        each.syncUninterruptibly();
      }
      assertThat(received.bytes()).isEqualTo(10_000);
      assertThat(received.sum()).isEqualTo(sum.getValue());
    }
  }

  /** Netty reports the progress of a message that is still in the channel's queue. */
  @ParameterizedTest
  @CsvSource({"1000, true", "1000, false", "100000, true", "100000, false"})
  void whatIsSentAsAListenerOfProgressEndsTheOutputArrivesOnce(int length, boolean closes)
      throws Exception {
    Collector received = new Collector();
    Queue<Long> told = new ConcurrentLinkedQueue<>();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      ChannelProgressiveFutureListener ending =
          new ChannelProgressiveFutureListener() {
            @Override
            public void operationProgressed(
                ChannelProgressiveFuture write, long progress, long total) {
              told.add(progress);
              if (progress == total) {
                ChannelFuture unused = closes ? client.close() : client.shutdownOutput();
              }
            }

            @Override
            public void operationComplete(ChannelProgressiveFuture write) {}
          };

      // The buffer is read-only, as {@link Poison} would replace the promise of a writable one.
      ChannelFuture write =
          client.writeAndFlush(
              Unpooled.directBuffer(length).writeZero(length).asReadOnly(),
              client.newProgressivePromise().addListener(ending));

      write.syncUninterruptibly();
      assertThat(within(received.inactive)).isTrue();
      assertThat(received.bytes()).isEqualTo(length);
      assertThat(told).doesNotHaveDuplicates().last().isEqualTo((long) length);
    }
  }

  /** As Netty does after such a write, the output ends, and nothing else. */
  @Test
  void theOutputEndsBehindAWriteWhoseBufferCannotBeRead() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      AtomicReference<ChannelFuture> write = new AtomicReference<>();
      client
          .eventLoop()
          .submit(
              () -> {
                ByteBuf released = Unpooled.directBuffer(10).writeZero(10).asReadOnly();
                write.set(client.write(released));
                released.release();
                client.flush();
              })
          .syncUninterruptibly();

      assertThat(write.get().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(write.get().isSuccess()).isFalse();
      assertThat(within(received.inactive)).isTrue();
      assertThat(client.closeFuture().await(Ends.LIMIT.toMillis())).isTrue();
      assertThat(received.bytes()).isZero();
    }
  }

  /** A stream keeps a limited number of bytes, as a kernel's socket buffer does. */
  @Test
  void aWriteThatIsMoreThanIsKeptFailsAsTheChannelCloses() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received).childOption(ChannelOption.AUTO_READ, false));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      AtomicReference<ChannelFuture> write = new AtomicReference<>();
      client
          .eventLoop()
          .submit(
              () -> {
                int length = 2 * UnsentTail.MOST;
                write.set(client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length)));
                ChannelFuture unused = client.close();
              })
          .syncUninterruptibly();

      accepted.config().setAutoRead(true);

      assertThat(write.get().awaitUninterruptibly().cause())
          .isInstanceOf(ClosedChannelException.class);
      assertThat(within(received.inactive)).isTrue();
    }
  }

  @Test
  void anEndThatIsShutDownStillReceives() throws Exception {
    Collector atServer = new Collector();
    Collector atClient = new Collector();
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(ends.server(atServer).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
      SocketChannel client = Ends.connect(ends.client(atClient), server);
      SocketChannel accepted = ends.accepted();
      client.writeAndFlush(Unpooled.copiedBuffer(new byte[100])).syncUninterruptibly();

      client.shutdownOutput().syncUninterruptibly();

      assertThat(client.isOutputShutdown()).isTrue();
      assertThat(client.isActive()).isTrue();
      await()
          .atMost(Ends.LIMIT)
          .untilAsserted(
              () ->
                  assertThat(atServer.events)
                      .containsExactly(
                          ChannelInputShutdownEvent.INSTANCE,
                          ChannelInputShutdownReadComplete.INSTANCE));
      assertThat(atServer.bytes()).isEqualTo(100);
      assertThat(accepted.isInputShutdown()).isTrue();
      assertThatThrownBy(
              () -> client.writeAndFlush(Unpooled.copiedBuffer(new byte[1])).syncUninterruptibly())
          .isInstanceOf(IOException.class);

      accepted.writeAndFlush(Unpooled.copiedBuffer(new byte[50_000])).syncUninterruptibly();
      accepted.shutdownOutput().syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> atClient.bytes() == 50_000);
      assertThat(within(atClient.inactive)).isTrue();
      accepted.close().syncUninterruptibly();
    }
  }

  /** This includes an HCA that sends asynchronously, as an RNIC does. */
  @Test
  void lingerZeroResetsTheConnectionBehindWhatWasWritten() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client =
          Ends.connect(ends.client(new Collector()).option(ChannelOption.SO_LINGER, 0), server);
      assertThat(within(received.active)).isTrue();

      client
          .writeAndFlush(Unpooled.copiedBuffer(new byte[100]))
          .addListener(ChannelFutureListener.CLOSE)
          .syncUninterruptibly();

      assertThat(within(received.inactive)).isTrue();
      assertThat(received.bytes()).isEqualTo(100);
      assertThat(received.events)
          .singleElement()
          .isInstanceOfSatisfying(
              IOException.class,
              reset -> assertThat(reset).hasMessageContaining("Connection reset by peer"));
    }
  }

  @Test
  void lingerZeroResetsTheConnection() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client =
          Ends.connect(ends.client(new Collector()).option(ChannelOption.SO_LINGER, 0), server);
      assertThat(within(received.active)).isTrue();

      client.close().syncUninterruptibly();

      assertThat(within(received.inactive)).isTrue();
      assertThat(received.events)
          .singleElement()
          .isInstanceOfSatisfying(
              IOException.class,
              reset -> assertThat(reset).hasMessageContaining("Connection reset by peer"));
    }
  }

  @Test
  void aLoopThatIsShutDownEndsItsConnections() throws Exception {
    Collector received = new Collector();
    try (Ends one = new Ends()) {
      Channel server = Ends.bind(one.server(received));
      try (Ends other = new Ends()) {
        SocketChannel client = Ends.connect(other.client(new Collector()), server);
        client.writeAndFlush(Unpooled.copiedBuffer(new byte[77])).syncUninterruptibly();
      }

      assertThat(within(received.inactive)).isTrue();
      assertThat(received.bytes()).isEqualTo(77);
    }
  }

  @Test
  void aChannelThatIsDeregisteredIsClosed() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      SocketChannel client =
          Ends.connect(ends.client(new Collector()), Ends.bind(ends.server(received)));
      assertThat(within(received.active)).isTrue();

      client.deregister().syncUninterruptibly();

      assertThat(client.closeFuture().await(Ends.LIMIT.toMillis())).isTrue();
      assertThat(within(received.inactive)).isTrue();
    }
  }

  /** The loop may not even get the time to prepare its end. */
  @RepeatedTest(2)
  void aLoopThatEndsAtOnceClosesItsChannels() {
    MultiThreadIoEventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1, RdmaIoHandler.newFactory(Addresses.of("netty"), Ends.options().build()));
    RdmaSocketChannel channel = new RdmaSocketChannel();
    loop.register(channel).syncUninterruptibly();

    // In a task of the loop, after which the loop only ends.
    loop.next()
        .execute(
            () -> {
              var ended = loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
              assertThat(ended.isDone()).isFalse();
            });

    assertThat(loop.terminationFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(channel.isOpen()).isFalse();
  }
}
