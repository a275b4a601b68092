// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;
import io.verbena.RdmaConnectException;
import io.verbena.RejectReason;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import java.lang.ref.WeakReference;
import java.net.ConnectException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which clients a server channel accepts. A client that sends the byte 1 is innocent. */
class AdmissionTest {
  private static final int SHORT_MILLIS = 300;

  /** A timeout within which an innocent client is accepted on any HCA. */
  private static final int TIMEOUT_MILLIS =
      (int) Addresses.within(Duration.ofMillis(SHORT_MILLIS)).toMillis();

  private static final byte INNOCENT = 1;
  private static final byte VICTIM = 2;

  /** Records the events in the pipeline of a server channel. */
  private static final class Told extends ChannelInboundHandlerAdapter {
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      failures.add((Throwable) event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
      failures.add(failure);
    }
  }

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private Ends ends() {
    return new Ends(Ends.options().meters(new VerbenaMeters(registry)));
  }

  private static ServerBootstrap limited(Ends ends, int most) {
    return ends.server(Collector::new).option(RdmaChannelOption.MAX_CONNECTIONS, most);
  }

  private static ServerBootstrap asking(Ends ends, RdmaAcceptHook hook) {
    return ends.server(Collector::new).option(RdmaChannelOption.ACCEPT_HOOK, hook);
  }

  private static RdmaAcceptHook forVictims(RdmaAcceptHook hook) {
    return request ->
        request.privateData().get() == INNOCENT
            ? now(AcceptDecision.accept())
            : hook.decide(request);
  }

  private static Future<AcceptDecision> now(AcceptDecision decision) {
    return ImmediateEventExecutor.INSTANCE.newSucceededFuture(decision);
  }

  private static Promise<AcceptDecision> later() {
    return ImmediateEventExecutor.INSTANCE.newPromise();
  }

  private static Bootstrap client(Ends ends, byte... data) {
    return ends.client(new Collector()).option(RdmaChannelOption.PRIVATE_DATA, data);
  }

  private static SocketChannel connect(Ends ends, Channel server) {
    return Ends.connect(client(ends, INNOCENT), server);
  }

  private static Throwable refusal(Ends ends, Channel server, byte... data) {
    ChannelFuture connecting = client(ends, data).connect(server.localAddress());
    assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(connecting.cause()).isInstanceOf(ConnectException.class);
    return connecting.cause();
  }

  private static RejectReason reason(Throwable refusal) {
    assertThat(refusal).hasCauseInstanceOf(RdmaConnectException.class);
    return ((RdmaConnectException) refusal.getCause()).rejection();
  }

  private double refusals(String reason) {
    return registry.get("verbena.connections.refused").tag("reason", reason).counter().count();
  }

  /** Waits until the one slot is free and a connect succeeds. */
  private static SocketChannel awaitConnect(Ends ends, Channel server) {
    return await()
        .atMost(Ends.LIMIT)
        .until(
            () -> {
              ChannelFuture connecting = client(ends, INNOCENT).connect(server.localAddress());
              connecting.awaitUninterruptibly(Ends.LIMIT.toMillis());
              return connecting.isSuccess() ? (SocketChannel) connecting.channel() : null;
            },
            channel -> channel != null);
  }

  @Test
  void refusesAConnectionBeyondTheLimitUntilAnotherEnds() throws Exception {
    try (Ends ends = ends()) {
      Channel server = Ends.bind(limited(ends, 2));
      SocketChannel first = connect(ends, server);
      connect(ends, server);

      Throwable refusal = refusal(ends, server, INNOCENT);

      assertThat(reason(refusal).code()).isEqualTo(RejectReason.CONNECTION_LIMIT);
      assertThat(refusal).hasMessageContaining("the server has 2 connections, its limit");
      assertThat(refusals("connection_limit")).isEqualTo(1);
      first.close().syncUninterruptibly();
      awaitConnect(ends, server);
      assertThat(reason(refusal(ends, server, INNOCENT)).code())
          .isEqualTo(RejectReason.CONNECTION_LIMIT);
    }
  }

  @Test
  void refusesAConnectionBeyondThePeersLimitUntilAnotherEnds() throws Exception {
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              ends.server(Collector::new).option(RdmaChannelOption.MAX_CONNECTIONS_PER_PEER, 1));
      connect(ends, server);
      SocketChannel accepted = ends.accepted();

      assertThat(reason(refusal(ends, server, INNOCENT)).code()).isEqualTo(RejectReason.PEER_LIMIT);

      assertThat(refusals("peer_limit")).isEqualTo(1);
      accepted.close().syncUninterruptibly();
      awaitConnect(ends, server);
    }
  }

  @Test
  void refusesALimitBelowOne() {
    RdmaServerSocketChannel server = new RdmaServerSocketChannel();

    assertThatThrownBy(() -> server.config().setOption(RdmaChannelOption.MAX_CONNECTIONS, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("MAX_CONNECTIONS: 0 (expected: >= 1)");
    assertThat(server.config().getOption(RdmaChannelOption.MAX_CONNECTIONS_PER_PEER))
        .isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void requestsThatAreNotReadHaveSlotsUntilTheServerCloses() {
    try (Ends ends = ends()) {
      Channel server = Ends.bind(limited(ends, 1).option(ChannelOption.AUTO_READ, false));
      ChannelFuture waiting = client(ends, INNOCENT).connect(server.localAddress());
      await()
          .atMost(Ends.LIMIT)
          .until(
              () ->
                  waiting.isDone()
                      || reason(refusal(ends, server, INNOCENT)).code()
                          == RejectReason.CONNECTION_LIMIT);
      assertThat(waiting.isDone()).isFalse();

      server.close().syncUninterruptibly();

      assertThat(waiting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(waiting.cause()).isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void aClientThatGoesBeforeItIsAcceptedGivesItsSlotBack() {
    try (Ends ends = ends()) {
      Channel server = Ends.bind(limited(ends, 1).option(ChannelOption.AUTO_READ, false));
      ChannelFuture leaving = client(ends, INNOCENT).connect(server.localAddress());
      assertThat(leaving.awaitUninterruptibly(SHORT_MILLIS)).isFalse();
      leaving.channel().close().syncUninterruptibly();

      server.config().setAutoRead(true);

      awaitConnect(ends, server);
    }
  }

  /** A channel ends this way if its loop refuses it. */
  @Test
  void aChannelThatIsClosedBeforeItIsRegisteredLeavesNothingBehind() {
    AtomicReference<WeakReference<Object>> closed = new AtomicReference<>();
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              limited(ends, 1)
                  .handler(
                      new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object child) {
                          closed.set(new WeakReference<>(child));
                          ((Channel) child).unsafe().closeForcibly();
                        }
                      }));

      refusal(ends, server, INNOCENT);

      assertThat(((RdmaServerSocketChannel) server).connectionsTaken()).isZero();
      await()
          .atMost(Ends.LIMIT)
          .until(
              () -> {
                System.gc();
                return closed.get().get() == null;
              });
    }
  }

  @Test
  void aHookThatRejectsGivesTheSlotBackAndTellsTheClientWhy() {
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              limited(ends, 1)
                  .option(
                      RdmaChannelOption.ACCEPT_HOOK,
                      forVictims(request -> now(AcceptDecision.reject(4711, "not before noon")))));

      for (int i = 0; i < 3; i++) {
        Throwable refusal = refusal(ends, server, VICTIM);
        assertThat(reason(refusal)).isEqualTo(new RejectReason(4711, "not before noon"));
        assertThat(refusal).hasMessageContaining("not before noon");
      }

      assertThat(refusals("program")).isEqualTo(3);
      connect(ends, server);
    }
  }

  @Test
  void theHookSeesWhatTheClientSendsAndWhereItIs() {
    byte[] most = new byte[ConnectRequest.MAX_PRIVATE_DATA];
    most[23] = 7;
    CompletableFuture<ConnectRequest> seen = new CompletableFuture<>();
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              asking(
                  ends,
                  request -> {
                    seen.complete(request);
                    return now(AcceptDecision.accept());
                  }));

      Ends.connect(client(ends, most), server);

      assertThat(seen.join().privateData()).isEqualTo(ByteBuffer.wrap(most));
      assertThat(seen.join().peer()).isNotEmpty();
      assertThat(seen.join().address() == null).isEqualTo(Addresses.areEmulated());
    }
  }

  @Test
  void refusesMoreDataThanFits() {
    try (Ends ends = ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));

      assertThat(refusal(ends, server, new byte[ConnectRequest.MAX_PRIVATE_DATA + 1]))
          .hasMessageContaining("private data: 25 bytes (expected: <= 24)");
    }
  }

  @Test
  void theAnswerMayComeLaterFromAnotherThread() {
    Promise<AcceptDecision> answer = later();
    try (Ends ends = ends()) {
      Channel server = Ends.bind(asking(ends, forVictims(request -> answer)));
      ChannelFuture waiting = client(ends, VICTIM).connect(server.localAddress());
      connect(ends, server);
      assertThat(waiting.awaitUninterruptibly(SHORT_MILLIS)).isFalse();

      answer.setSuccess(AcceptDecision.accept());

      waiting.syncUninterruptibly();
      assertThat(waiting.channel().isActive()).isTrue();
    }
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        hook(
            "throws",
            request -> {
              throw new IllegalStateException("thrown by a hook");
            }),
        hook(
            "throws an error of the JVM",
            request -> {
              throw new OutOfMemoryError("thrown by a hook");
            }),
        hook("returns null", request -> null),
        hook("answers null", request -> later().setSuccess(null)),
        hook("fails", request -> later().setFailure(new IllegalStateException("thrown"))),
        hook("is cancelled", request -> cancelled()),
        hook("never answers", request -> later()));
  }

  private static Arguments hook(String what, RdmaAcceptHook hook) {
    return arguments(what, hook);
  }

  private static Future<AcceptDecision> cancelled() {
    Promise<AcceptDecision> answer = later();
    answer.cancel(false);
    return answer;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void aHookThatFailsFailsItsConnectionOnly(String what, RdmaAcceptHook hook) {
    Told told = new Told();
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              asking(ends, forVictims(hook))
                  .handler(told)
                  .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS));
      SocketChannel before = connect(ends, server);

      RejectReason rejection = reason(refusal(ends, server, VICTIM));

      assertThat(rejection)
          .isEqualTo(new RejectReason(RejectReason.HOOK_FAILED, "the server's accept hook failed"));
      await().atMost(Ends.LIMIT).until(() -> !told.failures.isEmpty());
      assertThat(told.failures).singleElement().isInstanceOf(RdmaConnectException.class);
      assertThat(connect(ends, server).isActive()).isTrue();
      assertThat(before.isActive()).isTrue();
      assertThat(server.isActive()).isTrue();
    }
  }

  /** Netty's own acceptor stops reading for a second after a channel failed. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void aServerReadsOnWhereAHookFails(String what, RdmaAcceptHook hook) {
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              asking(ends, forVictims(hook))
                  .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS));

      refusal(ends, server, VICTIM);

      // The loop runs this after the refusal.
      assertThat(
              server.eventLoop().submit(server.config()::isAutoRead).syncUninterruptibly().getNow())
          .isTrue();
      assertThat(connect(ends, server).isActive()).isTrue();
    }
  }

  @Test
  void anAnswerIsCancelledAtTheDeadline() {
    Promise<AcceptDecision> answer = later();
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              asking(ends, forVictims(request -> answer))
                  .handler(new Told())
                  .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS));

      refusal(ends, server, VICTIM);

      await().atMost(Ends.LIMIT).until(answer::isCancelled);
      connect(ends, server);
    }
  }

  @Test
  void aHookThatClosesTheServerKeepsTheConnectionsThatAreThere() throws Exception {
    AtomicReference<Channel> server = new AtomicReference<>();
    AtomicBoolean closed = new AtomicBoolean();
    try (Ends ends = ends()) {
      server.set(
          Ends.bind(
              asking(
                  ends,
                  forVictims(
                      request -> {
                        server.get().close().addListener(done -> closed.set(true));
                        return now(AcceptDecision.accept());
                      }))));
      SocketChannel before = connect(ends, server.get());
      // Until it is active the server has not accepted it, and the server's close would end it,
      // too.
      await().atMost(Ends.LIMIT).until(ends.accepted()::isActive);

      refusal(ends, server.get(), VICTIM);

      await().atMost(Ends.LIMIT).untilTrue(closed);
      assertThat(before.isActive()).isTrue();
    }
  }

  @Test
  void aServerThatClosesCancelsWhatItsHookDecidesOn() {
    Promise<AcceptDecision> answer = later();
    CompletableFuture<ConnectRequest> asked = new CompletableFuture<>();
    try (Ends ends = ends()) {
      Channel server =
          Ends.bind(
              asking(
                  ends,
                  request -> {
                    asked.complete(request);
                    return answer;
                  }));
      ChannelFuture waiting = client(ends, VICTIM).connect(server.localAddress());
      asked.join();

      server.close().syncUninterruptibly();

      assertThat(waiting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(waiting.cause()).isInstanceOf(ConnectException.class);
      await().atMost(Ends.LIMIT).until(answer::isCancelled);
    }
  }

  @Test
  void slotsAreFreeOnceTheDeviceHasFailed() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    URI plain = Addresses.of("netty");
    URI fused = URI.create(plain + (plain.getQuery() == null ? "?" : "&") + "fuse=admission");
    try (Ends ends = new Ends(Ends.options(), fused, plain)) {
      Channel server = Ends.bind(limited(ends, 1).handler(new Told()));
      connect(ends, server);
      SocketChannel accepted = ends.accepted();

      assertThat(DeviceFault.inject("admission")).isEqualTo(1);

      assertThat(accepted.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      await()
          .atMost(Ends.LIMIT)
          .until(() -> ((RdmaServerSocketChannel) server).connectionsTaken() == 0);
    }
  }
}
