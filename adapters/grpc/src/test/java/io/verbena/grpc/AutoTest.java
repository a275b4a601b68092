// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static io.grpc.stub.ClientCalls.blockingUnaryCall;
import static io.grpc.stub.ServerCalls.asyncUnaryCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaChannelOption;
import io.verbena.netty.RdmaSockets;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests gRPC in a cluster in which hosts get RDMA one by one. */
@Tag("once")
class AutoTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));
  private static final int CALLERS = 4;
  private static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.newBuilder(new Bytes(), new Bytes())
          .setType(MethodType.UNARY)
          .setFullMethodName("verbena/echo")
          .build();

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RdmaSockets sockets =
      RdmaSockets.builder(Addresses.of("grpc-auto"))
          .options(
              RdmaOptions.builder()
                  .pollMode(PollMode.EVENT)
                  .eagerSize(16 << 10)
                  .meters(new VerbenaMeters(registry))
                  .build())
          .loops(2)
          .orTcp(Addresses.timeForRdma())
          .build();

  @AfterEach
  void close() {
    sockets.close();
  }

  private static String host() {
    return Addresses.areEmulated() ? "localhost" : Addresses.of("grpc-auto").getHost();
  }

  /** Starts a server as on a host with RDMA, or on a host without. */
  private Server serve(boolean rdma, int port) throws IOException {
    NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress(host(), port));
    NettyServerBuilder set =
        rdma
            ? RdmaGrpc.server(builder, sockets)
            : builder
                .bossEventLoopGroup(sockets.group())
                .workerEventLoopGroup(sockets.group())
                .channelType(NioServerSocketChannel.class);
    return set.addService(
            ServerServiceDefinition.builder("verbena")
                .addMethod(
                    ECHO,
                    asyncUnaryCall(
                        (request, answers) -> {
                          answers.onNext(request);
                          answers.onCompleted();
                        }))
                .build())
        .build()
        .start();
  }

  /**
   * Starts a server at the same port again. A selector releases a closed socket only in the next
   * turn of its loop.
   */
  private Server serveAgain(boolean rdma, int port) {
    return await()
        .atMost(LIMIT)
        .ignoreExceptionsMatching(failure -> failure.getCause() instanceof BindException)
        .until(() -> serve(rdma, port), server -> true);
  }

  /**
   * Returns a channel without memory of media: it tries RDMA even if the server restarts before the
   * client notices.
   */
  private ManagedChannel connect(Server server) {
    return RdmaGrpc.client(NettyChannelBuilder.forAddress(host(), server.getPort()), sockets)
        .withOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, (int) LIMIT.toMillis() / 2)
        .withOption(RdmaChannelOption.MEDIUM_MEMORY_MILLIS, 0)
        .usePlaintext()
        .build();
  }

  private static byte[] call(ManagedChannel channel, byte[] request) {
    return blockingUnaryCall(
        channel,
        ECHO,
        CallOptions.DEFAULT
            .withWaitForReady()
            .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS),
        request);
  }

  private static void end(Server server) throws InterruptedException {
    server.shutdown();
    assertThat(server.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private static void end(ManagedChannel channel) throws InterruptedException {
    channel.shutdownNow();
    assertThat(channel.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  private double chosen(String medium) {
    return registry.find("verbena.connections.chosen").tags("medium", medium).counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callsOverWhatTheServerHas(boolean rdma) throws Exception {
    Server server = serve(rdma, 0);
    ManagedChannel channel = connect(server);
    byte[] request = new byte[100_000];

    assertThat(call(channel, request)).isEqualTo(request);

    // Both ends of an auto channel are counted.
    assertThat(chosen(Addresses.scheme())).isEqualTo(rdma ? 2 : 0);
    assertThat(chosen("tcp")).isEqualTo(rdma ? 0 : 1);
    end(channel);
    end(server);
  }

  /** Stops each server as in a rolling upgrade: the server ends its calls. */
  @Test
  void noCallFailsWhileAServerGetsRdmaAndLosesIt() throws Exception {
    Server server = serve(false, 0);
    int port = server.getPort();
    ManagedChannel channel = connect(server);
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong calls = new AtomicLong();
    List<CompletableFuture<Void>> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(
          CompletableFuture.runAsync(
              () -> {
                while (!over.get()) {
                  call(channel, new byte[100]);
                  calls.incrementAndGet();
                }
              },
              task -> new Thread(task, "caller").start()));
    }
    for (boolean rdma : List.of(true, false, true)) {
      awaitMore(calls, callers);

      end(server);
      server = serveAgain(rdma, port);
      channel.resetConnectBackoff();
      awaitMore(calls, callers);

      // A connect that began before the server was up may have found only its TCP port.
      String medium = rdma ? Addresses.scheme() : "tcp";
      double before = chosen(medium);
      channel.enterIdle();

      await().atMost(LIMIT).untilAsserted(() -> assertThat(chosen(medium)).isGreaterThan(before));
      awaitMore(calls, callers);
    }

    over.set(true);
    for (CompletableFuture<Void> each : callers) {
      each.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
    end(channel);
    end(server);
  }

  private static void awaitMore(AtomicLong calls, List<CompletableFuture<Void>> callers) {
    long now = calls.get();
    await()
        .atMost(LIMIT)
        .until(
            () ->
                calls.get() > now + 100
                    || callers.stream().anyMatch(CompletableFuture::isCompletedExceptionally));
    assertThat(callers).noneMatch(CompletableFuture::isDone);
  }
}
