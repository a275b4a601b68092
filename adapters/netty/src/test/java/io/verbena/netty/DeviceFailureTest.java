// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.verbena.HcaException;
import io.verbena.RdmaOptions;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests the end of channels whose HCA fails, and of their loops. */
class DeviceFailureTest {
  private static final String FUSE = "netty-server";

  @Test
  void aServerChannelTellsOfItAndClosesAndTheNextOneIsOnTheHcaOpenedAgain() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    Collector told = new Collector();
    URI plain = Addresses.of("netty");
    URI fused = fused();
    try (Ends ends = new Ends(Ends.options(), fused, plain)) {
      Channel server = Ends.bind(ends.server(new Collector()).handler(told));

      assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(told.events)
          .singleElement()
          .isInstanceOfSatisfying(
              HcaException.class,
              failure ->
                  assertThat(failure)
                      .hasMessageContaining("has failed")
                      .hasCauseInstanceOf(VerbsException.class));

      assertCarries(ends);
    }
  }

  private static URI fused() {
    URI plain = Addresses.of("netty");
    return URI.create(plain + (plain.getQuery() == null ? "?" : "&") + "fuse=" + FUSE);
  }

  private static void assertCarries(Ends ends) {
    Collector received = new Collector();
    Channel again = Ends.bind(ends.server(received));
    SocketChannel client = Ends.connect(ends.client(new Collector()), again);
    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 100);
  }

  @Test
  void channelsThatAreConnectedBreakBeforeTheHcaIsOpenedAgain() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    Collector told = new Collector();
    try (Ends ends = new Ends(Ends.options(), fused(), Addresses.of("netty"))) {
      Channel server = Ends.bind(ends.server(told));
      Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);

      assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

      // A connection may break before the connection manager reports that its HCA has failed.
      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(accepted.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(told.events).anyMatch(event -> event instanceof IOException);
      assertCarries(ends);
    }
  }

  /** Each channel keeps its HCA open as long as the channel is open. */
  @Test
  void aChannelThatDoesNotReadClosesToo() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    Collector told = new Collector();
    try (Ends ends = new Ends(Ends.options(), fused(), Addresses.of("netty"))) {
      Channel server = Ends.bind(ends.server(told).childOption(ChannelOption.AUTO_READ, false));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[5])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> isReadable(accepted));

      assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(accepted.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(told.events).hasAtLeastOneElementOfType(IOException.class);
      assertCarries(ends);
    }
  }

  private static boolean isReadable(SocketChannel channel) {
    return channel
        .eventLoop()
        .submit(
            () -> {
              Stream stream = ((RdmaSocketChannel) channel).stream();
              return stream != null && stream.receiveBuffers().isReadable();
            })
        .syncUninterruptibly()
        .getNow();
  }

  @Test
  void aChannelThatIsHalfClosedClosesToo() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    Collector told = new Collector();
    try (Ends ends = new Ends(Ends.options(), fused(), Addresses.of("netty"))) {
      Channel server =
          Ends.bind(ends.server(told).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      client.shutdownOutput().syncUninterruptibly();
      await()
          .atMost(Ends.LIMIT)
          .until(() -> told.events.contains(ChannelInputShutdownReadComplete.INSTANCE));

      assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(accepted.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(told.events).hasAtLeastOneElementOfType(IOException.class);
      assertCarries(ends);
    }
  }

  /**
   * The completions that the loop polls during the failure need a new slab, which the failed HCA
   * does not register.
   */
  @Test
  void aChannelWhoseReceivesWereToGrowBreaksAndItsLoopGoesOn() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    try (Ends ends = new Ends(fewSlabs(), fused(), Addresses.of("netty"))) {
      Channel server = Ends.bind(ends.server(new Collector()));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      SharedHca hca = SharedHca.open(fused(), fewSlabs().build());
      // The loop keeps the HCA open.
      hca.release();
      List<ByteBuf> hoard = takeAllFrames(hca.memory());
      RdmaIoHandler handler = requireNonNull(((RdmaSocketChannel) accepted).handler());

      accepted
          .eventLoop()
          .submit(
              () -> {
                for (int i = 0; i < 2; i++) {
                  client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).syncUninterruptibly();
                }
                assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);
                // The loop would call this next.
                assertThatCode(handler::drain).doesNotThrowAnyException();
              })
          .syncUninterruptibly();

      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(accepted.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      hoard.forEach(ByteBuf::release);
      assertCarries(ends);
    }
  }

  private static RdmaOptions.Builder fewSlabs() {
    return Ends.options().maxRegisteredBytes(1 << 20);
  }

  /** Takes all free frames of the slabs, so that the next frame needs another slab. */
  private static List<ByteBuf> takeAllFrames(RegisteredMemory memory) {
    int frame = fewSlabs().build().eagerSize();
    List<ByteBuf> taken = new ArrayList<>();
    long before = memory.registeredBytes();
    while (memory.registeredBytes() == before) {
      taken.add(memory.allocator().directBuffer(frame, frame));
    }
    for (long left = (memory.registeredBytes() - before) / frame - 1; left > 0; left--) {
      taken.add(memory.allocator().directBuffer(frame, frame));
    }
    return taken;
  }

  /** The loop has not learned of the failure when it registers the next channel. */
  @Test
  void theHcaIsOpenedAgainBeforeItsServerChannelIsClosed() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    try (Ends ends = new Ends(Ends.options(), fused(), Addresses.of("netty"))) {
      Channel failing = Ends.bind(ends.server(new Collector()));
      SharedHca hca = SharedHca.open(fused(), Ends.options().build());
      // The loop keeps the HCA open.
      hca.release();
      AtomicReference<ChannelFuture> next = new AtomicReference<>();
      failing
          .eventLoop()
          .submit(
              () -> {
                DeviceFault.inject(FUSE);
                await().atMost(Ends.LIMIT).until(hca::hasFailed);
                next.set(failing.eventLoop().register(new RdmaServerSocketChannel()));
              })
          .syncUninterruptibly();

      assertThat(next.get().syncUninterruptibly().channel().isRegistered()).isTrue();
      assertThat(failing.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertCarries(ends);
    }
  }
}
