// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory.Right;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Tests all objects that are open on a device when it is removed. Runs in a JVM of {@link
 * RemovalTest}.
 */
class RemovedDevice {
  /** The environment variable with the name of a FIFO, from which the fake reads its script. */
  static final String SCRIPT = "FAKE_RDMA_CORE_SCRIPT";

  private static final String HOST = "10.0.20.1";
  private static final URI DEVICE = URI.create("disni://" + HOST + ":7000");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  static void play(String line) throws IOException {
    // Opened for reading, too, as opening a FIFO only for writing blocks while there is no reader.
    try (var script = new RandomAccessFile(System.getenv(SCRIPT), "rw")) {
      script.write((line + "\n").getBytes(UTF_8));
    }
  }

  /** Removes the device and adds a new one with the same name. */
  private static void replaceTheDevice() throws IOException {
    play("remove mlx5_20");
    play("return mlx5_20");
  }

  @Test
  void endsConnectionsAndServersAndIsOpenedAgainByTheNextTransport() throws Exception {
    BlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
    RdmaTransport serverSide = RdmaTransport.create(RdmaOptions.defaults());
    RdmaTransport clientSide = RdmaTransport.create(RdmaOptions.defaults());
    RdmaServer server = bind(serverSide, accepted);
    RdmaConnection client = clientSide.connect(DEVICE).block(LIMIT);
    RdmaConnection other = accepted.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    RdmaMemory.Region region =
        other.memory().register(ByteBuffer.allocateDirect(64), Set.of(Right.READ));
    assertThat(client.read(region.token()).block(LIMIT)).isNotNull().matches(ByteBuf::release);
    // The other end requests no messages, and these are more than it has room for.
    CompletableFuture<Void> sent =
        client
            .send(Flux.range(0, 100_000).map(n -> Unpooled.wrappedBuffer(new byte[100])))
            .toFuture();
    CompletableFuture<Long> received =
        client.receive().doOnNext(ByteBuf::release).count().toFuture();

    replaceTheDevice();

    failsTyped(sent);
    failsTyped(received);
    failsTyped(client.onClose().toFuture());
    failsTyped(other.onClose().toFuture());
    assertThat(server.onClose().toFuture())
        .failsWithin(LIMIT)
        .withThrowableThat()
        .withCauseInstanceOf(HcaException.class)
        .withMessageContaining("has failed");
    region.close();
    clientSide.dispose();
    serverSide.dispose();

    RdmaTransport again = RdmaTransport.create(RdmaOptions.defaults());
    assertThat(bind(again, accepted)).isNotNull();
    assertThat(again.connect(DEVICE).block(LIMIT)).isNotNull();
    again.dispose();
  }

  private static RdmaServer bind(RdmaTransport transport, BlockingQueue<RdmaConnection> accepted) {
    return transport
        .bind(
            DEVICE,
            connection -> {
              accepted.add(connection);
              return Mono.never();
            })
        .block(LIMIT);
  }

  private static void failsTyped(CompletableFuture<?> pending) {
    assertThat(pending)
        .failsWithin(LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfAny(ConnectionClosedException.class, HcaException.class);
  }

  @Test
  void closesChannelsAndTheNextOnesAreOnTheDeviceOpenedAgain() throws Exception {
    var loops =
        new MultiThreadIoEventLoopGroup(
            1, RdmaIoHandler.newFactory(DEVICE, RdmaOptions.defaults()));
    Channel server = listen(loops, new Counter());
    Channel client = connect(loops, server);

    replaceTheDevice();

    assertThat(server.closeFuture().await(LIMIT.toMillis())).isTrue();
    assertThat(client.closeFuture().await(LIMIT.toMillis())).isTrue();
    Awaitility.await().atMost(LIMIT).until(RemovedDevice::isThere);
    Counter received = new Counter();
    Channel next = connect(loops, listen(loops, received));
    next.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).sync();
    Awaitility.await().atMost(LIMIT).until(() -> received.bytes.get() == 100);
    assertThat(loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).await(LIMIT.toMillis())).isTrue();
  }

  private static boolean isThere() {
    try {
      VerbsProviders.find(DEVICE).open(DEVICE).close();
      return true;
    } catch (VerbsException e) {
      return false;
    }
  }

  private static Channel listen(MultiThreadIoEventLoopGroup loops, Counter handler)
      throws InterruptedException {
    return new ServerBootstrap()
        .group(loops)
        .channel(RdmaServerSocketChannel.class)
        .childHandler(handler)
        .bind(new InetSocketAddress(HOST, 0))
        .sync()
        .channel();
  }

  private static Channel connect(MultiThreadIoEventLoopGroup loops, Channel server)
      throws InterruptedException {
    return new Bootstrap()
        .group(loops)
        .channel(RdmaSocketChannel.class)
        .handler(new Counter())
        .connect(server.localAddress())
        .sync()
        .channel();
  }

  /** Counts the bytes that arrive. */
  @Sharable
  private static final class Counter extends ChannelInboundHandlerAdapter {
    private final AtomicInteger bytes = new AtomicInteger();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf buffer = (ByteBuf) message;
      bytes.addAndGet(buffer.readableBytes());
      buffer.release();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var unused = context.close();
    }
  }
}
