// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static io.grpc.stub.ClientCalls.asyncBidiStreamingCall;
import static io.grpc.stub.ClientCalls.blockingUnaryCall;
import static io.grpc.stub.ServerCalls.asyncBidiStreamingCall;
import static io.grpc.stub.ServerCalls.asyncUnaryCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests cases that gRPC's own tests do not cover. */
class GrpcTest {
  private static final int LIMIT = (int) Addresses.within(Duration.ofSeconds(30)).toSeconds();
  private static final MethodDescriptor<byte[], byte[]> ECHO = method("echo", MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> SILENCE =
      method("silence", MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> CHAT =
      method("chat", MethodType.BIDI_STREAMING);

  private final int port = Loops.nextPort();
  private final Queue<StreamObserver<byte[]>> chats = new ConcurrentLinkedQueue<>();
  private final CountDownLatch silent = new CountDownLatch(1);
  private final CountDownLatch cancelled = new CountDownLatch(1);
  private RdmaSockets serverSockets;
  private RdmaSockets clientSockets;
  private Server server;
  private ManagedChannel client;

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    return MethodDescriptor.newBuilder(new Bytes(), new Bytes())
        .setType(type)
        .setFullMethodName("verbena/" + name)
        .build();
  }

  @BeforeEach
  void open() throws IOException {
    serverSockets = Loops.open();
    clientSockets = Loops.open();
    server = serve(serverSockets);
    client =
        RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", port), clientSockets)
            .usePlaintext()
            .maxInboundMessageSize(16 << 20)
            .build();
  }

  private Server serve(RdmaSockets sockets) throws IOException {
    return RdmaGrpc.server(NettyServerBuilder.forPort(port), sockets)
        .maxInboundMessageSize(16 << 20)
        .addService(
            ServerServiceDefinition.builder("verbena")
                .addMethod(
                    ECHO,
                    asyncUnaryCall(
                        (request, answers) -> {
                          answers.onNext(request);
                          answers.onCompleted();
                        }))
                .addMethod(SILENCE, asyncUnaryCall((request, answers) -> keepSilent(answers)))
                .addMethod(CHAT, asyncBidiStreamingCall(this::chat))
                .build())
        .build()
        .start();
  }

  private void keepSilent(StreamObserver<byte[]> answers) {
    ((ServerCallStreamObserver<byte[]>) answers).setOnCancelHandler(cancelled::countDown);
    silent.countDown();
  }

  /** Records the observers for answers; the test answers. */
  private StreamObserver<byte[]> chat(StreamObserver<byte[]> answers) {
    return new Heard() {
      @Override
      public void onNext(byte[] message) {
        chats.add(answers);
      }
    };
  }

  @AfterEach
  void close() throws InterruptedException {
    client.shutdownNow();
    assertThat(client.awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
    server.shutdownNow();
    assertThat(server.awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
    Loops.close(clientSockets);
    Loops.close(serverSockets);
  }

  private byte[] call(MethodDescriptor<byte[], byte[]> method, byte[] request, int seconds) {
    return blockingUnaryCall(
        client, method, CallOptions.DEFAULT.withDeadlineAfter(seconds, TimeUnit.SECONDS), request);
  }

  private Heard openChat() {
    Heard heard = new Heard();
    StreamObserver<byte[]> said =
        asyncBidiStreamingCall(client.newCall(CHAT, CallOptions.DEFAULT), heard);
    said.onNext(new byte[] {1});
    heard.said = said;
    return heard;
  }

  private static Status statusOf(Throwable thrown) {
    return ((StatusRuntimeException) thrown).getStatus();
  }

  @Test
  void echoesMessagesOf8Megabytes() {
    byte[] message = new byte[8 << 20];
    new Random(8).nextBytes(message);

    for (int i = 0; i < Addresses.rounds(3); i++) {
      assertThat(call(ECHO, message, LIMIT)).isEqualTo(message);
    }
  }

  @Test
  void has1000StreamsOpenAtOnce() throws Exception {
    List<Heard> heard = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      heard.add(openChat());
    }
    await().atMost(LIMIT, TimeUnit.SECONDS).until(() -> chats.size() == 1000);

    byte[] answer = new byte[1000];
    for (StreamObserver<byte[]> chat : chats) {
      chat.onNext(answer);
      chat.onCompleted();
    }

    for (Heard one : heard) {
      assertThat(one.ended.await(LIMIT, TimeUnit.SECONDS)).isTrue();
      assertThat(one.failure).isNull();
      assertThat(one.messages).hasSize(1).allMatch(message -> message.length == answer.length);
    }
  }

  @Test
  void aDeadlineEndsACallAtBothEnds() throws Exception {
    long deadline = Addresses.within(Duration.ofSeconds(1)).plusSeconds(2).toMillis();
    // Opens the connection, so that the next call reaches the server before its deadline.
    call(ECHO, new byte[1], LIMIT);
    Heard heard = new Heard();
    ClientCalls.asyncUnaryCall(
        client.newCall(
            SILENCE, CallOptions.DEFAULT.withDeadlineAfter(deadline, TimeUnit.MILLISECONDS)),
        new byte[1],
        heard);
    assertThat(silent.await(LIMIT, TimeUnit.SECONDS)).isTrue();

    assertThat(heard.ended.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(statusOf(heard.failure).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(cancelled.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(call(ECHO, new byte[] {7}, LIMIT)).containsExactly(7);
  }

  @Test
  void aCancelledCallIsCancelledAtTheServer() throws Exception {
    var call = client.newCall(SILENCE, CallOptions.DEFAULT);
    Heard heard = new Heard();
    ClientCalls.asyncUnaryCall(call, new byte[1], heard);
    assertThat(silent.await(LIMIT, TimeUnit.SECONDS)).isTrue();

    call.cancel("not wanted any more", null);

    assertThat(cancelled.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(heard.ended.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(statusOf(heard.failure).getCode()).isEqualTo(Status.Code.CANCELLED);
    assertThat(call(ECHO, new byte[] {7}, LIMIT)).containsExactly(7);
  }

  @Test
  void aGracefulShutdownLetsCallsEnd() throws Exception {
    Heard heard = openChat();
    await().atMost(LIMIT, TimeUnit.SECONDS).until(() -> chats.size() == 1);

    server.shutdown();
    await()
        .atMost(LIMIT, TimeUnit.SECONDS)
        .until(() -> client.getState(false) != ConnectivityState.READY);
    assertThatThrownBy(() -> call(ECHO, new byte[1], LIMIT))
        .satisfies(
            thrown -> assertThat(statusOf(thrown).getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    assertThat(server.isTerminated()).isFalse();
    StreamObserver<byte[]> chat = chats.remove();
    chat.onNext(new byte[] {9});
    chat.onCompleted();

    assertThat(heard.ended.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(heard.failure).isNull();
    assertThat(heard.messages).hasSize(1);
    heard.said.onCompleted();
    assertThat(server.awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aServerThatDiesIsUnavailableUntilThereIsAnother() throws Exception {
    Heard heard = openChat();
    await().atMost(LIMIT, TimeUnit.SECONDS).until(() -> chats.size() == 1);

    // This closes the server's connections without a GOAWAY of HTTP/2.
    Loops.close(serverSockets);

    assertThat(heard.ended.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(statusOf(heard.failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThatThrownBy(() -> call(ECHO, new byte[1], LIMIT))
        .satisfies(
            thrown -> {
              assertThat(statusOf(thrown).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
              assertThat(Stream.iterate(thrown, t -> t != null, Throwable::getCause))
                  .anyMatch(t -> t instanceof IOException || t instanceof ClosedChannelException);
            });

    server.shutdownNow();
    serverSockets = Loops.open();
    server = serve(serverSockets);
    byte[] answer =
        blockingUnaryCall(
            client,
            ECHO,
            CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(LIMIT, TimeUnit.SECONDS),
            new byte[] {7});
    assertThat(answer).containsExactly(7);
  }

  @Test
  void aCallOverClosedSocketsFails() {
    clientSockets.close();

    assertThatThrownBy(() -> call(ECHO, new byte[1], LIMIT))
        .satisfies(
            thrown ->
                assertThat(Stream.iterate(thrown, t -> t != null, Throwable::getCause))
                    .anyMatch(RejectedExecutionException.class::isInstance));
  }

  /** Collects the replies to a call. */
  private static class Heard implements StreamObserver<byte[]> {
    final Queue<byte[]> messages = new ConcurrentLinkedQueue<>();
    final CountDownLatch ended = new CountDownLatch(1);
    volatile Throwable failure;
    StreamObserver<byte[]> said;

    @Override
    public void onNext(byte[] message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable thrown) {
      failure = thrown;
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      ended.countDown();
    }
  }
}
