// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.resolver.NoopAddressResolverGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.verbena.AcceptDecision;
import io.verbena.RdmaConnectException;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests connections that use RDMA where the peer has it, and TCP otherwise. */
@Tag("once")
class AutoSocketChannelTest {
  private static final String TCP = AutoSocketChannel.TCP;
  private static final int SHORT_MILLIS = 200;

  /** A connect with this RDMA timeout has asked the server before it falls back to TCP. */
  private static final int ASKED_MILLIS = 3_000;

  /** A connect with this timeout starts in time to wait for another one, on any HCA. */
  private static final int PATIENT_MILLIS =
      (int) Addresses.within(Duration.ofSeconds(2)).toMillis();

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Ends ends = new Ends(Ends.options().meters(new VerbenaMeters(registry)));

  /** The media of a peer. */
  enum Peer {
    BOTH(AutoServerSocketChannel.class, Addresses.scheme()),
    RDMA(RdmaServerSocketChannel.class, Addresses.scheme()),
    TCP(NioServerSocketChannel.class, AutoSocketChannel.TCP);

    final Class<? extends ServerChannel> channel;
    final String medium;

    Peer(Class<? extends ServerChannel> channel, String medium) {
      this.channel = channel;
      this.medium = medium;
    }
  }

  @AfterEach
  void close() {
    ends.close();
  }

  private Channel bind(Peer peer) {
    return Ends.bindShared(ends.server(peer.channel, Echo::new));
  }

  private Channel bind(Peer peer, InetSocketAddress at) {
    return ends.server(peer.channel, Echo::new).bind(at).syncUninterruptibly().channel();
  }

  /** Binds a server over RDMA at the port of a TCP server; it never accepts. */
  private Channel swallowRdma(Channel tcp, AtomicInteger asked) {
    return ends.server(Echo::new)
        .option(
            RdmaChannelOption.ACCEPT_HOOK,
            request -> {
              asked.incrementAndGet();
              return ImmediateEventExecutor.INSTANCE.newPromise();
            })
        .bind(tcp.localAddress())
        .syncUninterruptibly()
        .channel();
  }

  private Bootstrap client(Collector handler) {
    return ends.client(AutoSocketChannel.class, handler)
        .option(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, (int) Ends.LIMIT.toMillis() / 2);
  }

  private static String mediumOf(Channel channel) {
    return channel.attr(AutoSocketChannel.MEDIUM).get();
  }

  private String connectAndClose(Channel server, int memoryMillis) {
    Channel channel =
        client(new Collector())
            .option(RdmaChannelOption.MEDIUM_MEMORY_MILLIS, memoryMillis)
            .connect(Ends.sharedAddress(server))
            .syncUninterruptibly()
            .channel();
    channel.close().syncUninterruptibly();
    return mediumOf(channel);
  }

  private static void exchange(SocketChannel channel, Collector received) {
    long before = received.bytes();
    int length = 100_000;
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[length])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == before + length);
  }

  private static Throwable causeOf(ChannelFuture failing) {
    assertThat(failing.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(failing.isSuccess()).isFalse();
    assertThat(failing.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
        .isTrue();
    return failing.cause();
  }

  @ParameterizedTest
  @EnumSource
  void takesWhatThePeerHas(Peer peer) throws Exception {
    Channel server = bind(peer);
    Collector received = new Collector();

    SocketChannel channel = Ends.connect(client(received), server);

    exchange(channel, received);
    assertThat(mediumOf(channel)).isEqualTo(peer.medium);
    assertThat(channel.isActive()).isTrue();
    assertThat(channel.remoteAddress()).isEqualTo(server.localAddress());
    assertThat(channel.localAddress().getPort()).isPositive();
    assertThat(received.active.await(0, TimeUnit.SECONDS)).isTrue();
    SocketChannel accepted = ends.accepted();
    assertThat(accepted.remoteAddress()).isEqualTo(channel.localAddress());
    accepted.close().syncUninterruptibly();
    assertThat(received.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(channel.isOpen()).isFalse();
    assertThat(received.events).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void namesItsPortOnceItIsConnectedThoughItHasBoundAnyAndWasAskedBefore(Peer peer)
      throws Exception {
    Channel server = bind(peer);
    Channel channel = client(new Collector()).register().syncUninterruptibly().channel();
    channel.bind(new InetSocketAddress(0)).syncUninterruptibly();
    assertThat(channel.localAddress()).isEqualTo(new InetSocketAddress(0));

    channel.connect(server.localAddress()).syncUninterruptibly();

    int port = ((InetSocketAddress) channel.localAddress()).getPort();
    assertThat(port).isPositive();
    SocketChannel accepted = ends.accepted();
    assertThat(accepted.remoteAddress().getPort()).isEqualTo(port);
  }

  /** As with a socket, and with an RDMA channel. */
  @Test
  void bindsOnceBeforeItConnects() {
    Channel server = bind(Peer.BOTH);
    InetSocketAddress any = new InetSocketAddress(0);
    Channel channel = client(new Collector()).register().syncUninterruptibly().channel();
    channel.bind(any).syncUninterruptibly();
    Channel connected = Ends.connect(client(new Collector()), server);

    assertThat(channel.bind(any).awaitUninterruptibly().cause())
        .isInstanceOf(AlreadyBoundException.class);
    assertThat(connected.bind(any).awaitUninterruptibly().cause())
        .isInstanceOf(AlreadyBoundException.class);
    assertThat(
            client(new Collector())
                .register()
                .syncUninterruptibly()
                .channel()
                .bind(InetSocketAddress.createUnresolved("nobody.invalid", 0))
                .awaitUninterruptibly()
                .cause())
        .isInstanceOf(UnresolvedAddressException.class);
  }

  @ParameterizedTest
  @EnumSource
  void readsNothingFromWhenItsProgramWantsNoMore(Peer peer) {
    Channel server = bind(peer);
    Collector received = new Collector();
    SocketChannel channel = Ends.connect(client(received), server);
    exchange(channel, received);
    long before = received.bytes();

    channel.config().setAutoRead(false);
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

    assertThat(channel.closeFuture().awaitUninterruptibly(SHORT_MILLIS)).isFalse();
    assertThat(received.bytes()).isEqualTo(before);
    channel.config().setAutoRead(true);
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == before + 10);
  }

  @ParameterizedTest
  @EnumSource
  void tellsEachHandlerOfEachStepOnce(Peer peer) throws Exception {
    Channel server = bind(peer);
    List<String> steps = new ArrayList<>();
    CountDownLatch end = new CountDownLatch(1);
    SocketChannel channel =
        (SocketChannel)
            ends.client(
                    AutoSocketChannel.class,
                    new ChannelInboundHandlerAdapter() {
                      @Override
                      public void channelRegistered(ChannelHandlerContext context) {
                        steps.add("registered");
                      }

                      @Override
                      public void channelActive(ChannelHandlerContext context) {
                        steps.add("active");
                      }

                      @Override
                      public void channelInactive(ChannelHandlerContext context) {
                        steps.add("inactive");
                      }

                      @Override
                      public void channelUnregistered(ChannelHandlerContext context) {
                        steps.add("unregistered");
                      }

                      @Override
                      public void handlerRemoved(ChannelHandlerContext context) {
                        steps.add("removed");
                        end.countDown();
                      }
                    })
                .connect(server.localAddress())
                .syncUninterruptibly()
                .channel();

    channel.close().syncUninterruptibly();

    assertThat(channel.closeFuture().isDone()).isTrue();
    assertThat(end.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(steps)
        .endsWith("active", "inactive", "unregistered", "removed")
        .doesNotHaveDuplicates();
  }

  @Test
  void takesTcpInTimeWhereAPeerSwallowsRdma() {
    Channel server = bind(Peer.TCP);
    AtomicInteger asked = new AtomicInteger();
    swallowRdma(server, asked);
    Collector received = new Collector();

    SocketChannel channel =
        Ends.connect(
            client(received).option(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, ASKED_MILLIS), server);

    await().atMost(Ends.LIMIT).untilAtomic(asked, value -> assertThat(value).isEqualTo(1));
    exchange(channel, received);
    assertThat(mediumOf(channel)).isEqualTo(TCP);
    assertThat(asked).hasValue(1);
  }

  @Test
  void remembersAPeerForAWhileAndTriesAgain() {
    Channel server = bind(Peer.TCP);
    assertThat(connectAndClose(server, 60_000)).isEqualTo(TCP);
    bind(Peer.RDMA, (InetSocketAddress) server.localAddress());

    assertThat(connectAndClose(server, 60_000)).isEqualTo(TCP);
    assertThat(connectAndClose(server, 0)).isEqualTo(Addresses.scheme());
    assertThat(connectAndClose(server, 60_000)).isEqualTo(Addresses.scheme());
  }

  @Test
  void findsAPeerThatHasChangedFromOneToTheOther() {
    Channel tcp = bind(Peer.TCP);
    assertThat(connectAndClose(tcp, 60_000)).isEqualTo(TCP);
    Ends.closeServer(tcp);
    Channel rdma = bind(Peer.RDMA, (InetSocketAddress) tcp.localAddress());
    assertThat(connectAndClose(rdma, 60_000)).isEqualTo(Addresses.scheme());
    rdma.close().syncUninterruptibly();
    Channel again = bind(Peer.TCP, (InetSocketAddress) tcp.localAddress());

    assertThat(connectAndClose(again, 60_000)).isEqualTo(TCP);
  }

  @Test
  void oneOfManyFindsOutForAll() {
    Channel server = bind(Peer.TCP);
    AtomicInteger asked = new AtomicInteger();
    swallowRdma(server, asked);
    List<ChannelFuture> connecting = new ArrayList<>();

    for (int i = 0; i < 20; i++) {
      connecting.add(
          client(new Collector())
              .option(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, Math.max(ASKED_MILLIS, PATIENT_MILLIS))
              .connect(server.localAddress()));
    }

    for (ChannelFuture each : connecting) {
      assertThat(mediumOf(each.syncUninterruptibly().channel())).isEqualTo(TCP);
    }
    assertThat(asked).hasValue(1);
  }

  @Test
  void anotherFindsOutWhereTheFirstGivesUp() {
    Channel server = bind(Peer.TCP);
    AtomicInteger asked = new AtomicInteger();
    Channel swallowing = swallowRdma(server, asked);
    ChannelFuture first = client(new Collector()).connect(server.localAddress());
    await().atMost(Ends.LIMIT).untilAtomic(asked, value -> assertThat(value).isEqualTo(1));
    ChannelFuture second = client(new Collector()).connect(server.localAddress());

    first.channel().close().syncUninterruptibly();

    assertThat(causeOf(first)).isInstanceOf(ClosedChannelException.class);
    await().atMost(Ends.LIMIT).untilAtomic(asked, value -> assertThat(value).isEqualTo(2));
    swallowing.close().syncUninterruptibly();
    assertThat(mediumOf(second.syncUninterruptibly().channel())).isEqualTo(TCP);
  }

  @Test
  void aConnectEndsWithItsTimeWhileItWaitsForAnother() {
    Channel server = bind(Peer.TCP);
    AtomicInteger asked = new AtomicInteger();
    swallowRdma(server, asked);
    ChannelFuture first = client(new Collector()).connect(server.localAddress());
    // Connects at once, as the wait for the first connect counts from that connect's start.
    ChannelFuture second =
        client(new Collector())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, PATIENT_MILLIS)
            .connect(server.localAddress());

    await().atMost(Ends.LIMIT).untilAtomic(asked, value -> assertThat(value).isEqualTo(1));
    assertThat(causeOf(second))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("timed out after " + PATIENT_MILLIS + " ms");
    assertThat(first.isDone()).isFalse();
    assertThat(first.cancel(false)).isTrue();
    assertThat(first.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
  }

  @Test
  void aServerThatIsDownFailsTheConnectWithBothReasons() {
    Channel server = bind(Peer.BOTH);
    Ends.closeServer(server);

    Throwable cause = causeOf(client(new Collector()).connect(server.localAddress()));

    assertThat(cause).isInstanceOf(ConnectException.class).hasMessageContaining("refused");
    assertThat(cause.getSuppressed())
        .singleElement()
        .satisfies(rdma -> assertThat(rdma).isInstanceOf(ConnectException.class));
    bind(Peer.BOTH, (InetSocketAddress) server.localAddress());
    assertThat(connectAndClose(server, 60_000)).isEqualTo(Addresses.scheme());
  }

  @Test
  void aServerThatRejectsAClientIsNotAskedOverTcp() {
    Channel server = bind(Peer.TCP);
    ends.server(Echo::new)
        .option(
            RdmaChannelOption.ACCEPT_HOOK,
            request ->
                ImmediateEventExecutor.INSTANCE.newSucceededFuture(
                    AcceptDecision.reject(7, "not you")))
        .bind(server.localAddress())
        .syncUninterruptibly();

    Throwable cause = causeOf(client(new Collector()).connect(server.localAddress()));

    assertThat(cause)
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("not you")
        .hasCauseInstanceOf(RdmaConnectException.class);
    assertThat(registry.find("verbena.connections.chosen").counters()).isEmpty();
  }

  @Test
  void aConnectionThatIsLostIsNotMadeAnewOverTcp() throws Exception {
    AtomicInteger accepted = new AtomicInteger();
    Channel server =
        Ends.bindShared(
            ends.server(
                AutoServerSocketChannel.class,
                () -> {
                  accepted.incrementAndGet();
                  return new Echo();
                }));
    Collector received = new Collector();
    SocketChannel channel = Ends.connect(client(received), server);
    exchange(channel, received);
    SocketChannel other = ends.accepted();

    other.config().setSoLinger(0);
    other.close().syncUninterruptibly();

    assertThat(received.inactive.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(
            channel
                .writeAndFlush(Unpooled.wrappedBuffer(new byte[1]))
                .awaitUninterruptibly()
                .cause())
        .isInstanceOf(ClosedChannelException.class);
    assertThat(accepted).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA", "TCP"})
  void readsWhenItIsAskedTo(Peer peer) {
    Channel server = bind(peer);
    Collector received = new Collector();
    SocketChannel channel =
        Ends.connect(client(received).option(ChannelOption.AUTO_READ, false), server);
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
    assertThat(received.bytes()).isZero();

    channel.read();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
    channel.config().setAutoRead(true);
    exchange(channel, received);
    channel.config().setAutoRead(false);

    assertThat(channel.config().isAutoRead()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA", "TCP"})
  void shutsDownItsOutputAlone(Peer peer) throws Exception {
    Channel server =
        Ends.bindShared(
            ends.server(peer.channel, Echo::new)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
    Collector received = new Collector();
    SocketChannel channel =
        Ends.connect(client(received).option(ChannelOption.ALLOW_HALF_CLOSURE, true), server);
    SocketChannel accepted = ends.accepted();

    channel.shutdownOutput().syncUninterruptibly();

    assertThat(channel.isOutputShutdown()).isTrue();
    assertThat(channel.isInputShutdown()).isFalse();
    await().atMost(Ends.LIMIT).until(accepted::isInputShutdown);
    accepted.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
    accepted.shutdownOutput().syncUninterruptibly();
    await()
        .atMost(Ends.LIMIT)
        .until(() -> received.events.contains(ChannelInputShutdownEvent.INSTANCE));
  }

  @Test
  void aSocketGetsTheOptionsThatWereSetAndNoOthers() {
    Channel server = bind(Peer.TCP);
    SocketChannel plain =
        Ends.connect(ends.client(NioSocketChannel.class, new Collector()), server);

    SocketChannel channel =
        Ends.connect(client(new Collector()).option(ChannelOption.SO_KEEPALIVE, true), server);

    assertThat(channel.config().isKeepAlive()).isTrue();
    assertThat(channel.config().getOption(ChannelOption.SO_SNDBUF))
        .isEqualTo(plain.config().getSendBufferSize());
    assertThat(channel.alloc()).isSameAs(plain.alloc());
    channel.config().setOption(ChannelOption.SO_KEEPALIVE, false);
    assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isFalse();
  }

  @Test
  @SuppressWarnings("deprecation") // for the option that sets one of the two marks
  void aSocketGetsWhatTheMethodsOfTheConfigurationSet() {
    Channel server = bind(Peer.TCP);
    Channel channel =
        client(new Collector())
            .option(ChannelOption.WRITE_BUFFER_HIGH_WATER_MARK, 1 << 20)
            .register()
            .syncUninterruptibly()
            .channel();
    SocketChannelConfig config = (SocketChannelConfig) channel.config();
    config.setWriteBufferHighWaterMark(8 << 20);
    config.setWriteBufferLowWaterMark(1 << 20);
    ((DefaultChannelConfig) config).setMaxMessagesPerWrite(3);

    channel.connect(server.localAddress()).syncUninterruptibly();

    assertThat(channel.bytesBeforeUnwritable()).isEqualTo((8 << 20) + 1L);
    ChannelConfig socket = requireNonNull(((AutoSocketChannel) channel).carrier()).config();
    assertThat(socket.getWriteBufferLowWaterMark()).isEqualTo(1 << 20);
    assertThat(socket.getOption(ChannelOption.MAX_MESSAGES_PER_WRITE)).isEqualTo(3);
  }

  /** As in a program that has only sockets. */
  @Test
  void connectsOverTcpWhereTheSocketRefusesAnOption() {
    Channel server = bind(Peer.TCP);
    int beyondAByte = 300;

    ChannelFuture connecting =
        client(new Collector())
            .option(ChannelOption.IP_TOS, beyondAByte)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
            .connect(server.localAddress());

    assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(connecting.cause()).isNull();
    assertThat(mediumOf(connecting.channel())).isEqualTo(TCP);
  }

  @Test
  void aSocketThatCannotBeMadeFailsTheConnectWithItsReason() {
    Channel server = bind(Peer.TCP);
    NoClassDefFoundError missing = new NoClassDefFoundError("no native sockets here");

    Throwable cause =
        causeOf(
            ends.client(
                    () ->
                        new AutoSocketChannel(
                            () -> {
                              throw missing;
                            }),
                    new Collector())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                .connect(server.localAddress()));

    assertThat(cause).isSameAs(missing);
  }

  @Test
  void refusesMisuse() {
    Channel server = bind(Peer.BOTH);
    SocketChannel channel = Ends.connect(client(new Collector()), server);

    assertThat(channel.connect(server.localAddress()).awaitUninterruptibly().cause())
        .isInstanceOf(AlreadyConnectedException.class);
    assertThat(
            causeOf(
                client(new Collector())
                    .resolver(NoopAddressResolverGroup.INSTANCE)
                    .connect(InetSocketAddress.createUnresolved("nobody.invalid", 1))))
        .isInstanceOf(UnresolvedAddressException.class);
    assertThatThrownBy(() -> channel.config().setOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("RDMA_TIMEOUT_MILLIS: 0 (expected: >= 1)");
    assertThatThrownBy(() -> channel.config().setOption(RdmaChannelOption.MEDIUM_MEMORY_MILLIS, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("MEDIUM_MEMORY_MILLIS: -1 (expected: >= 0)");
  }

  @Test
  void refusesOperationsBeforeItIsConnected() {
    Channel server = bind(Peer.TCP);
    swallowRdma(server, new AtomicInteger());
    ChannelFuture connecting = client(new Collector()).connect(server.localAddress());
    SocketChannel channel = (SocketChannel) connecting.channel();
    await().atMost(Ends.LIMIT).until(channel::isRegistered);

    assertThat(
            channel
                .writeAndFlush(Unpooled.wrappedBuffer(new byte[1]))
                .awaitUninterruptibly()
                .cause())
        .isInstanceOf(NotYetConnectedException.class);
    assertThat(channel.shutdownOutput().cause()).isInstanceOf(NotYetConnectedException.class);
    assertThat(channel.connect(server.localAddress()).awaitUninterruptibly().cause())
        .isInstanceOf(ConnectionPendingException.class);
    assertThat(connecting.cancel(false)).isTrue();
    assertThat(channel.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA", "TCP"})
  void sendsWhatWasWrittenBeforeAndIsFlushedBehindTheConnect(Peer peer) throws Exception {
    Channel server = bind(peer);
    Collector received = new Collector();
    Channel channel = client(received).register().syncUninterruptibly().channel();
    ChannelFuture early = channel.write(Unpooled.wrappedBuffer(new byte[10]));

    channel.connect(server.localAddress()).syncUninterruptibly();
    channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

    assertThat(early.isSuccess()).isTrue();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 20);
    assertThat(channel.bytesBeforeUnwritable())
        .isEqualTo(channel.config().getWriteBufferHighWaterMark() + 1L);
  }

  @Test
  void failsWhatWasWrittenWhereItIsNotConnected() {
    Channel channel = client(new Collector()).register().syncUninterruptibly().channel();
    ChannelFuture kept = channel.write(Unpooled.wrappedBuffer(new byte[10]));
    assertThat(kept.isDone()).isFalse();

    channel.close().syncUninterruptibly();

    assertThat(kept.awaitUninterruptibly().cause()).isInstanceOf(ClosedChannelException.class);
    assertThat(channel.write(Unpooled.wrappedBuffer(new byte[10])).awaitUninterruptibly().cause())
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void logsAPeerOnceAndWhenItChanges() {
    Logger log = Logger.getLogger("io.verbena.connection");
    Queue<String> lines = new ConcurrentLinkedQueue<>();
    Channel server = bind(Peer.TCP);
    Handler noted =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            if (line.getMessage().startsWith(server.localAddress() + ": ")) {
              lines.add(line.getMessage());
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    log.addHandler(noted);
    try {
      connectAndClose(server, 60_000);
      connectAndClose(server, 60_000);
      connectAndClose(server, 0);
      bind(Peer.RDMA, (InetSocketAddress) server.localAddress());
      connectAndClose(server, 0);
    } finally {
      log.removeHandler(noted);
    }

    assertThat(lines).hasSize(2);
    assertThat(lines.remove()).contains("connected over tcp, as ").contains("refused");
    assertThat(lines.remove()).endsWith("connected over " + Addresses.scheme());
  }

  @Test
  void countsWhatWasTaken() {
    Channel both = bind(Peer.BOTH);
    Channel tcp = bind(Peer.TCP);

    connectAndClose(both, 60_000);
    connectAndClose(tcp, 60_000);

    // Both ends of the first connection, and this end of the second.
    await().atMost(Ends.LIMIT).until(() -> chosen(Addresses.scheme()) == 2);
    assertThat(chosen(TCP)).isEqualTo(1);
  }

  private double chosen(String medium) {
    return registry
        .find("verbena.connections.chosen")
        .tags("adapter", "netty", "medium", medium)
        .counters()
        .stream()
        .mapToDouble(Counter::count)
        .sum();
  }
}
