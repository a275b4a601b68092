// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static io.grpc.stub.ClientCalls.blockingUnaryCall;
import static io.grpc.stub.ServerCalls.asyncUnaryCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import io.verbena.netty.SocketKind;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests gRPC with and without RDMA, over sockets of a chosen kind. */
@Tag("once")
class SocketKindTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));
  private static final URI NO_HCA = URI.create("disni://127.0.0.1");
  private static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.newBuilder(new Bytes(), new Bytes())
          .setType(MethodType.UNARY)
          .setFullMethodName("verbena/echo")
          .build();

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private RdmaSockets open(URI hca, SocketKind kind) {
    Throwable cause = kind.unavailabilityCause();
    if (cause != null) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: gRPC on " + kind + " sockets. " + cause);
    }
    assumeTrue(cause == null, kind + " sockets are not available");
    RdmaOptions options =
        RdmaOptions.builder()
            .pollMode(PollMode.EVENT)
            .eagerSize(16 << 10)
            .meters(new VerbenaMeters(registry))
            .build();
    return RdmaSockets.builder(hca)
        .options(options)
        .loops(2)
        .orTcp(Addresses.timeForRdma())
        .sockets(kind)
        .build();
  }

  /** Returns the server channel class of a kind, as a loop accepts only sockets of its own kind. */
  private static Class<? extends ServerChannel> serverOf(SocketKind kind) {
    return switch (kind) {
      case NIO -> NioServerSocketChannel.class;
      case EPOLL -> EpollServerSocketChannel.class;
      case IO_URING -> IoUringServerSocketChannel.class;
    };
  }

  private static NettyServerBuilder builder() {
    String host = Addresses.areEmulated() ? "localhost" : Addresses.of("grpc-kinds").getHost();
    return NettyServerBuilder.forAddress(new InetSocketAddress(host, 0));
  }

  private static Server start(NettyServerBuilder builder) throws Exception {
    return builder
        .addService(
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

  private static void assertThatItAnswers(Server server, RdmaSockets sockets) throws Exception {
    InetSocketAddress address = (InetSocketAddress) server.getListenSockets().get(0);
    ManagedChannel channel =
        RdmaGrpc.client(
                NettyChannelBuilder.forAddress(address.getHostString(), address.getPort()), sockets)
            .usePlaintext()
            .build();
    byte[] request = new byte[100_000];
    new Random(1).nextBytes(request);
    try {
      assertThat(
              blockingUnaryCall(
                  channel,
                  ECHO,
                  CallOptions.DEFAULT.withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS),
                  request))
          .isEqualTo(request);
    } finally {
      channel.shutdownNow();
      assertThat(channel.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      server.shutdown();
      assertThat(server.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  private double chosen(String medium) {
    return registry.find("verbena.connections.chosen").tags("medium", medium).counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void callsAServerWithoutRdma(SocketKind kind) throws Exception {
    try (RdmaSockets sockets = open(Addresses.of("grpc-kinds"), kind)) {
      Server server =
          start(
              builder()
                  .bossEventLoopGroup(sockets.group())
                  .workerEventLoopGroup(sockets.group())
                  .channelType(serverOf(kind)));

      assertThatItAnswers(server, sockets);

      assertThat(chosen("tcp")).isEqualTo(1);
      assertThat(chosen(Addresses.scheme())).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void callsAServerWithRdmaAsBefore(SocketKind kind) throws Exception {
    try (RdmaSockets sockets = open(Addresses.of("grpc-kinds"), kind)) {
      assertThatItAnswers(start(RdmaGrpc.server(builder(), sockets)), sockets);

      assertThat(chosen("tcp")).isZero();
      assertThat(chosen(Addresses.scheme())).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void serversAndClientsNeedNoHca(SocketKind kind) throws Exception {
    try (RdmaSockets sockets = open(NO_HCA, kind)) {
      assertThatItAnswers(start(RdmaGrpc.server(builder(), sockets)), sockets);
    }
  }
}
