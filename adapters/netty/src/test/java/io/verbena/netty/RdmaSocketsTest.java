// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.resolver.AddressResolver;
import io.netty.util.concurrent.Future;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.testing.Addresses;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests programs that use {@link RdmaSockets} for loops, channels and name lookups. */
@Tag("once")
class RdmaSocketsTest {
  private static final String HOST = "localhost";
  private static final URI NO_HCA = URI.create("disni://127.0.0.1");

  private final CountDownLatch lookupMayEnd = new CountDownLatch(1);
  private final CountDownLatch lookedUp = new CountDownLatch(1);
  private final List<RdmaSockets> opened = new ArrayList<>();

  @AfterEach
  void close() {
    lookupMayEnd.countDown();
    opened.forEach(RdmaSockets::close);
  }

  private static RdmaSockets.Builder builder(URI hca) {
    return RdmaSockets.builder(hca).loops(1).options(Ends.options().build());
  }

  private static RdmaSockets.Builder builder() {
    return builder(Addresses.of("netty"));
  }

  private RdmaSockets open(RdmaSockets.Builder builder) {
    RdmaSockets sockets = builder.build();
    opened.add(sockets);
    return sockets;
  }

  private static Channel bind(ServerBootstrap server) {
    return server
        .childHandler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Echo());
              }
            })
        .bind(HOST, 0)
        .syncUninterruptibly()
        .channel();
  }

  private static Channel bind(RdmaSockets sockets) {
    return bind(sockets.on(new ServerBootstrap()));
  }

  private static int portOf(Channel server) {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  private static ChannelFuture connect(RdmaSockets sockets, String host, Channel server) {
    return sockets.on(new Bootstrap()).handler(new Collector()).connect(host, portOf(server));
  }

  private static Channel connect(RdmaSockets sockets, Channel server) {
    return connect(sockets, HOST, server).syncUninterruptibly().channel();
  }

  private static void assertThatItAnswers(Channel client) {
    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100_000])).syncUninterruptibly();
    Collector received = client.pipeline().get(Collector.class);
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 100_000);
  }

  private static String mediumOf(Channel channel) {
    return channel.attr(AutoSocketChannel.MEDIUM).get();
  }

  private static Throwable causeOf(ChannelFuture failing) {
    assertThat(failing.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    return failing.cause();
  }

  /** Returns the loopback address once the test permits it. */
  private InetAddress[] lookUpSlowly(String name) throws UnknownHostException {
    lookedUp.countDown();
    try {
      assertThat(lookupMayEnd.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return new InetAddress[] {InetAddress.getByAddress(name, new byte[] {127, 0, 0, 1})};
  }

  @Test
  void talkOverRdma() {
    RdmaSockets sockets = open(builder());

    Channel client = connect(sockets, bind(sockets));

    assertThat(client).isInstanceOf(RdmaSocketChannel.class);
    assertThatItAnswers(client);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void orTcpTakeWhatThePeerHas(boolean rdma) {
    RdmaSockets sockets = open(builder().orTcp(Addresses.timeForRdma()));
    ServerBootstrap server = sockets.on(new ServerBootstrap());
    Channel listening =
        bind(
            rdma
                ? server
                : new ServerBootstrap()
                    .group(sockets.group())
                    .channel(NioServerSocketChannel.class));

    Channel client = connect(sockets, listening);

    assertThat(mediumOf(client)).isEqualTo(rdma ? Addresses.scheme() : AutoSocketChannel.TCP);
    assertThatItAnswers(client);
  }

  @Test
  void orTcpTryRdmaForAsLongAsTheyAreTold() {
    RdmaSockets sockets = open(builder().orTcp(Duration.ofSeconds(3)));

    Channel channel = sockets.newChannel();

    assertThat(channel.config().getOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS)).isEqualTo(3000);
    assertThatThrownBy(() -> builder().orTcp(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("patience: PT0S (expected: 1 to 2147483647 ms)");
    assertThatThrownBy(() -> builder().orTcp(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("(expected: 1 to 2147483647 ms)");
  }

  @Test
  void orTcpNeedNoHca() {
    RdmaSockets sockets = open(builder(NO_HCA).orTcp());

    Channel client = connect(sockets, bind(sockets));

    assertThat(mediumOf(client)).isEqualTo(AutoSocketChannel.TCP);
    assertThatItAnswers(client);
  }

  @Test
  void needAnHcaElse() {
    assertThatThrownBy(() -> builder(NO_HCA).build())
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NO_DEVICE));
  }

  @Test
  void shareAnHca() {
    RdmaServerSocketChannel one = (RdmaServerSocketChannel) bind(open(builder()));
    RdmaServerSocketChannel another = (RdmaServerSocketChannel) bind(open(builder().loops(2)));

    assertThat(one.loopHca()).isSameAs(another.loopHca());
  }

  @Test
  void failAConnectToAHostThatNobodyKnows() {
    RdmaSockets sockets =
        open(
            builder()
                .lookup(
                    name -> {
                      throw new UnknownHostException(name);
                    }));

    assertThat(causeOf(connect(sockets, "storage-9", bind(sockets))))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("storage-9");
  }

  @Test
  void lookANameUpWhileTheLoopGoesOn() throws Exception {
    RdmaSockets sockets = open(builder().lookup(this::lookUpSlowly));
    RdmaSockets others = open(builder());
    Channel server = bind(others);
    ChannelFuture connecting = connect(sockets, "storage-2", server);
    assertThat(lookedUp.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

    Channel beside =
        sockets
            .on(new Bootstrap())
            .handler(new Collector())
            .connect(server.localAddress())
            .syncUninterruptibly()
            .channel();
    assertThatItAnswers(beside);
    assertThat(connecting.isDone()).isFalse();
    lookupMayEnd.countDown();

    assertThat(causeOf(connecting)).isNull();
    assertThatItAnswers(connecting.channel());
  }

  @Test
  void endAConnectThatWaitsForItsNameAsTheyClose() throws Exception {
    RdmaSockets sockets = open(builder().lookup(this::lookUpSlowly));
    ChannelFuture connecting = connect(sockets, "storage-2", bind(open(builder())));
    assertThat(lookedUp.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

    sockets.close();

    assertThat(causeOf(connecting)).isInstanceOf(RejectedExecutionException.class);
    assertThat(connecting.channel().isOpen()).isFalse();
  }

  @Test
  void endAConnectThatWaitsForItsNameAsItsLoopAloneEnds() throws Exception {
    RdmaSockets sockets = open(builder().loops(2).lookup(this::lookUpSlowly));
    ChannelFuture connecting = connect(sockets, "storage-2", bind(open(builder())));
    assertThat(lookedUp.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

    Future<?> end =
        connecting
            .channel()
            .eventLoop()
            .shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);

    assertThat(causeOf(connecting)).isInstanceOf(RejectedExecutionException.class);
    assertThat(end.await(Ends.LIMIT.toMillis())).isTrue();
    assertThat(connecting.channel().isOpen()).isFalse();
    assertThat(sockets.isClosed()).isFalse();
  }

  @Test
  void refuseALookupWhileAsManyWaitAsMay() throws Exception {
    CountDownLatch begun = new CountDownLatch(NamesOffLoop.THREADS);
    RdmaSockets sockets =
        open(
            builder()
                .lookup(
                    name -> {
                      begun.countDown();
                      return lookUpSlowly(name);
                    }));
    AddressResolver<?> names =
        requireNonNull(sockets.on(new Bootstrap()).config().resolver())
            .getResolver(sockets.group().next());
    List<Future<?>> lookups = new ArrayList<>();
    for (int i = 0; i < NamesOffLoop.THREADS; i++) {
      lookups.add(names.resolve(InetSocketAddress.createUnresolved("storage-" + i, 7000)));
    }
    assertThat(begun.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    for (int i = 0; i < NamesOffLoop.MOST_WAITING; i++) {
      lookups.add(names.resolve(InetSocketAddress.createUnresolved("waiting-" + i, 7000)));
    }

    Future<?> another = names.resolve(InetSocketAddress.createUnresolved("another", 7000));

    assertThat(another.await(Ends.LIMIT.toMillis())).isTrue();
    assertThat(another.cause())
        .isInstanceOf(UnknownHostException.class)
        .hasMessage("another: 1024 lookups are waiting (expected: fewer)");
    assertThat(lookups).noneMatch(Future::isDone);
    lookupMayEnd.countDown();
    for (Future<?> each : lookups) {
      assertThat(each.await(Ends.LIMIT.toMillis())).isTrue();
      assertThat(each.cause()).isNull();
    }
  }

  @Test
  void tellOfALoopThatIsHeldUpAsTheyClose() throws Exception {
    RdmaSockets sockets = open(builder());
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    Future<Boolean> task =
        sockets
            .group()
            .submit(
                () -> {
                  held.countDown();
                  return mayGoOn.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                });
    try {
      assertThat(held.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

      assertThatThrownBy(() -> sockets.closeWithin(Duration.ofMillis(10)))
          .isInstanceOf(RdmaTimeoutException.class)
          .hasMessageContaining("loops are still running after PT0.01S");
    } finally {
      mayGoOn.countDown();
    }

    sockets.close();
    assertThat(task.getNow()).isTrue();
    assertThat(sockets.group().isTerminated()).isTrue();
  }

  @Test
  void closeUnderLoad() {
    RdmaSockets sockets = open(builder().loops(2));
    RdmaServerSocketChannel server = (RdmaServerSocketChannel) bind(sockets);
    SharedHca hca = server.loopHca();
    List<Channel> clients = new ArrayList<>();
    List<Echo> echoes = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Echo echo = new Echo();
      echoes.add(echo);
      Channel client =
          sockets
              .on(new Bootstrap())
              .handler(echo)
              .connect(HOST, portOf(server))
              .syncUninterruptibly()
              .channel();
      clients.add(client);
      Echo.start(client);
    }
    List<CountDownLatch> rounds = echoes.stream().map(echo -> echo.await(100)).toList();
    await().atMost(Ends.LIMIT).until(() -> rounds.stream().allMatch(each -> each.getCount() == 0));

    sockets.close();

    assertThat(clients).noneMatch(Channel::isOpen);
    assertThat(server.isOpen()).isFalse();
    assertThat(sockets.group().isTerminated()).isTrue();
    assertThatThrownBy(() -> hca.device().createCompletionChannel())
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.CLOSED));
  }

  @Test
  void closeOnceHoweverOftenTheyAreToldTo() {
    RdmaSockets sockets = open(builder());
    connect(sockets, bind(sockets));

    List<CompletableFuture<Void>> closing = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      closing.add(CompletableFuture.runAsync(sockets::close));
    }

    closing.forEach(CompletableFuture::join);
    sockets.close();
    assertThat(sockets.group().isTerminated()).isTrue();
  }

  @Test
  void closeFromWithinALoop() {
    RdmaSockets sockets = open(builder());

    sockets.group().next().submit(sockets::close).syncUninterruptibly();

    assertThat(sockets.isClosed()).isTrue();
    await().atMost(Ends.LIMIT).until(() -> sockets.group().isTerminated());
  }

  @Test
  void refuseWorkOnceTheyAreClosed() {
    RdmaSockets sockets = open(builder());
    Bootstrap client = sockets.on(new Bootstrap()).handler(new Collector());
    ServerBootstrap server = sockets.on(new ServerBootstrap()).childHandler(new Collector());
    sockets.close();

    assertThat(causeOf(client.connect(HOST, 7000)))
        .isInstanceOf(RejectedExecutionException.class)
        .hasMessage(sockets + ": closed");
    assertThat(causeOf(server.bind(HOST, 0))).isInstanceOf(RejectedExecutionException.class);
    assertThatThrownBy(sockets::newDatagramChannel).isInstanceOf(RejectedExecutionException.class);
  }
}
