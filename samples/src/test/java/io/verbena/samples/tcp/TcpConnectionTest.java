// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class TcpConnectionTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final URI ANY_PORT = URI.create("tcp://127.0.0.1:0");
  private static final int MESSAGE_LENGTH = 64 << 10;

  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
  private final TcpTransport transport = new TcpTransport(2, allocator, 1 << 20);

  @AfterEach
  void releasesEveryBuffer() {
    transport.dispose();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  @Test
  void echoesMessagesInOrder() {
    TcpConnection client = connect(c -> c.send(c.receive()));

    Mono<Void> sent = client.send(Flux.range(0, 1_000).map(this::message));
    Flux<Integer> received = client.receive().take(1_000).map(TcpConnectionTest::take);

    assertThat(received.mergeWith(sent.then(Mono.empty())).collectList().block(LIMIT))
        .isEqualTo(IntStream.range(0, 1_000).boxed().toList());
  }

  @Test
  void keepsWhatACancelledSubscriberDidNotGetForTheNext() {
    TcpConnection client = connect(c -> c.send(Flux.range(0, 100).map(this::message)));

    for (int i = 0; i < 100; i++) {
      assertThat(client.receive().take(1).map(TcpConnectionTest::take).blockLast(LIMIT))
          .isEqualTo(i);
    }
  }

  @Test
  void aSubscriberThatAsksForNothingStopsTheSender() {
    AtomicInteger sent = new AtomicInteger();
    Flux<ByteBuf> endless =
        Flux.range(0, Integer.MAX_VALUE)
            .map(
                i -> {
                  sent.incrementAndGet();
                  return allocator.directBuffer(MESSAGE_LENGTH).writeZero(MESSAGE_LENGTH);
                });
    TcpConnection client = connect(c -> c.send(endless));

    client.receive().take(1).doOnNext(ByteBuf::release).blockLast(LIMIT);

    AtomicInteger last = new AtomicInteger();
    await()
        .atMost(LIMIT)
        .during(Duration.ofMillis(300))
        .until(sent::get, now -> last.getAndSet(now) == now);
    assertThat(sent).hasValueLessThan(1_000);
  }

  @Test
  void receiveEndsWhenThePeerCloses() {
    TcpConnection client = connect(c -> Mono.empty());

    assertThat(client.receive().collectList().block(LIMIT)).isEmpty();
  }

  @Test
  void sendFailsOnceThePeerHasClosed() {
    TcpConnection client = connect(c -> Mono.empty());
    client.receive().blockLast(LIMIT);

    assertThatThrownBy(() -> client.send(Mono.fromSupplier(() -> message(1))).block(LIMIT))
        .hasRootCauseInstanceOf(ClosedChannelException.class);
  }

  @Test
  void anErrorOfWhatIsSentIsPassedOnAndLeavesTheConnectionOpen() {
    TcpConnection client = connect(c -> c.send(c.receive()));

    assertThatThrownBy(
            () -> client.send(Flux.error(new IllegalStateException("mine"))).block(LIMIT))
        .hasMessage("mine");

    client.send(Mono.fromSupplier(() -> message(7))).block(LIMIT);
    assertThat(client.receive().take(1).map(TcpConnectionTest::take).blockLast(LIMIT)).isEqualTo(7);
  }

  @Test
  void refusesASecondSubscriber() {
    TcpConnection client = connect(c -> c.send(c.receive()));
    client.receive().subscribe(ByteBuf::release);

    assertThatThrownBy(() -> client.receive().blockLast(LIMIT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has a subscriber");
  }

  @Test
  void connectToNobodyFails() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }

    assertThatThrownBy(() -> transport.connect(URI.create("tcp://127.0.0.1:" + port)).block(LIMIT))
        .hasCauseInstanceOf(ConnectException.class);
  }

  private TcpConnection connect(Function<TcpConnection, Publisher<Void>> handler) {
    TcpServer server = transport.bind(ANY_PORT, handler).block(LIMIT);
    return transport.connect(server.address()).block(LIMIT);
  }

  private ByteBuf message(int value) {
    return allocator.directBuffer(Integer.BYTES).writeInt(value);
  }

  private static int take(ByteBuf message) {
    try {
      return message.readInt();
    } finally {
      message.release();
    }
  }
}
