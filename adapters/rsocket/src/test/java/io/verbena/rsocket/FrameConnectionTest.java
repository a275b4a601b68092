// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTimeoutException;
import io.verbena.RemoteRequestException;
import io.verbena.core.testing.Addresses;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class FrameConnectionTest {
  private static final long LIMIT = 1 << 20;
  private static final int LENGTH = 1000;

  private final SendQueues queues = new SendQueues(Meters.OFF, "none", LIMIT);

  /** Returns ends that may take long to close, as on a busy machine. */
  private static Ends patient() {
    return Ends.create(Ends.options().closeTimeout(Ends.LIMIT));
  }

  private static ByteBuf frame(FrameConnection connection, int content, int length) {
    return connection.alloc().buffer(length).writeInt(content).writeZero(length - Integer.BYTES);
  }

  /** Sends more than the peer's first credits allow. */
  private static List<ByteBuf> sendBeyondCredits(FrameConnection connection) {
    List<ByteBuf> frames = new ArrayList<>();
    for (int i = 0; i < 2 * Ends.options().build().window(); i++) {
      ByteBuf frame = frame(connection, i, LENGTH);
      frames.add(frame);
      connection.sendFrame(1, frame);
    }
    return frames;
  }

  private static CompletableFuture<List<Integer>> contents(RdmaConnection connection) {
    return connection
        .receive()
        .map(
            message -> {
              int content = message.readInt();
              message.release();
              return content;
            })
        .collectList()
        .toFuture();
  }

  private static Throwable failure(Mono<Void> end) {
    return end.materialize().block(Ends.LIMIT).getThrowable();
  }

  @Test
  void failsWithDepthAndLimitWhereThePeerStopsReading() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      StepVerifier receiver =
          StepVerifier.create(connection.receive())
              .expectError(SendQueueLimitException.class)
              .verifyLater();

      long sent = 0;
      while (!connection.isDisposed()) {
        connection.sendFrame(1, frame(connection, 0, LENGTH));
        sent += LENGTH;
        assertThat(sent).isLessThan(4 * LIMIT);
      }

      assertThat(failure(connection.onClose()))
          .asInstanceOf(type(SendQueueLimitException.class))
          .satisfies(
              e -> {
                assertThat(e.limit()).isEqualTo(LIMIT);
                assertThat(e.depth()).isBetween(LIMIT + 1, LIMIT + LENGTH);
                assertThat(e).hasMessageContainingAll("" + e.depth(), "" + LIMIT, e.peer());
              });
      receiver.verify(Ends.LIMIT);
      assertThat(queues.bytes()).isZero();
      assertThat(queues.count()).isZero();
    }
  }

  @Test
  void failsWhereAFrameIsTooLongForThePeer() {
    try (Ends ends = Ends.create(Ends.options().maxMessageSize(LENGTH), Ends.options())) {
      FrameConnection connection = FrameConnection.over(ends.connect().client(), queues);
      connection.sendFrame(1, frame(connection, 0, LENGTH + 1));

      assertThat(failure(connection.onClose()))
          .isInstanceOf(RemoteRequestException.class)
          .hasMessageContainingAll("" + (LENGTH + 1), "" + LENGTH);
    }
  }

  @Test
  void sendsFromOtherMemoryWhereRegisteredMemoryIsFull() {
    try (Ends ends = Ends.create(Ends.options(), Ends.options().maxRegisteredBytes(4 << 20))) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      Queue<Integer> received = new ConcurrentLinkedQueue<>();
      pair.server()
          .receive()
          .subscribe(
              message -> {
                received.add(message.readInt());
                message.release();
              });
      // The transport's send buffer for this frame is allocated now, and reused later.
      connection.sendFrame(1, frame(connection, 1, LENGTH));
      await().atMost(Ends.LIMIT).until(() -> received.contains(1));

      RegisteredBuffers all = RegisteredBuffers.all(pair.client().memory());
      try {
        connection.sendFrame(1, frame(connection, 2, LENGTH));
        connection.sendFrame(1, connection.alloc().buffer().writeInt(3));

        await().atMost(Ends.LIMIT).until(() -> received.contains(3));
        assertThat(received).containsExactly(1, 2, 3);
        assertThat(connection.isDisposed()).isFalse();
      } finally {
        all.release();
      }
    }
  }

  @Test
  void endsAsTcpDoesWhereThePeerGoes() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      StepVerifier receiver =
          StepVerifier.create(connection.receive())
              .expectError(ClosedChannelException.class)
              .verifyLater();
      List<ByteBuf> frames = sendBeyondCredits(connection);

      pair.server().dispose();

      receiver.verify(Ends.LIMIT);
      StepVerifier.create(connection.onClose()).expectComplete().verify(Ends.LIMIT);
      assertThat(connection.isDisposed()).isTrue();
      await()
          .atMost(Ends.LIMIT)
          .untilAsserted(() -> assertThat(frames).allMatch(frame -> frame.refCnt() == 0));
    }
  }

  @Test
  void closesWhereThePeerCloses() {
    try (Ends ends = patient()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      StepVerifier receiver =
          StepVerifier.create(connection.receive())
              .expectError(ClosedChannelException.class)
              .verifyLater();
      List<ByteBuf> frames = sendBeyondCredits(connection);

      // The waiting frames must not delay the peer's close.
      pair.server().close().block(Ends.LIMIT);

      receiver.verify(Ends.LIMIT);
      StepVerifier.create(connection.onClose()).expectComplete().verify(Ends.LIMIT);
      assertThat(frames).allMatch(frame -> frame.refCnt() == 0);
    }
  }

  @Test
  void deliversWhatWasSentBeforeDispose() {
    try (Ends ends = patient()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      int count = sendBeyondCredits(connection).size();
      connection.dispose();
      ByteBuf late = frame(connection, 0, LENGTH);
      connection.sendFrame(1, late);

      assertThat(late.refCnt()).isZero();
      assertThat(contents(pair.server()))
          .succeedsWithin(Ends.LIMIT)
          .isEqualTo(Flux.range(0, count).collectList().block());
      StepVerifier.create(connection.onClose()).expectComplete().verify(Ends.LIMIT);
    }
  }

  @Test
  void sendsTheErrorFrameLast() {
    try (Ends ends = patient()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      int count = sendBeyondCredits(connection).size();
      connection.sendErrorAndClose(new ConnectionErrorException("that was all"));

      assertThat(
              pair.server()
                  .receive()
                  .skip(count)
                  .map(
                      message -> {
                        String text = ErrorFrameCodec.dataUtf8(message);
                        message.release();
                        return text;
                      })
                  .doOnDiscard(ByteBuf.class, ByteBuf::release)
                  .collectList()
                  .block(Ends.LIMIT))
          .containsExactly("that was all");
      StepVerifier.create(connection.onClose()).expectComplete().verify(Ends.LIMIT);
    }
  }

  @Test
  void disposeDoesNotWaitForeverForAPeerThatDoesNotRead() {
    Duration soon = Addresses.within(Duration.ofMillis(200));
    try (Ends ends = Ends.create(Ends.options().closeTimeout(soon))) {
      FrameConnection connection = FrameConnection.over(ends.connect().client(), queues);
      List<ByteBuf> frames = sendBeyondCredits(connection);
      connection.dispose();

      assertThat(failure(connection.onClose())).isInstanceOf(RdmaTimeoutException.class);
      // On a loop that is held up, the watchdog signals the timeout before the loop has released
      // the frames.
      await()
          .atMost(Ends.LIMIT)
          .untilAsserted(() -> assertThat(frames).allMatch(frame -> frame.refCnt() == 0));
    }
  }

  @Test
  void receivesForOneSubscriberEver() {
    try (Ends ends = patient()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection = FrameConnection.over(pair.client(), queues);
      connection.receive().subscribe(frame -> {}, error -> {}).dispose();

      StepVerifier.create(connection.receive())
          .expectError(IllegalStateException.class)
          .verify(Ends.LIMIT);

      // Even after its subscriber has cancelled, the connection must notice that the peer closes.
      pair.server().send(Mono.just(frame(connection, 0, LENGTH))).block(Ends.LIMIT);
      pair.server().close().block(Ends.LIMIT);
      StepVerifier.create(connection.onClose()).expectComplete().verify(Ends.LIMIT);
    }
  }

  @Test
  void keepsTheOrderOfEachStreamOfManyThreads() throws InterruptedException {
    int threads = 8;
    int each = Addresses.rounds(2000);
    try (Ends ends = patient()) {
      Ends.Pair pair = ends.connect();
      FrameConnection connection =
          FrameConnection.over(pair.client(), new SendQueues(Meters.OFF, "none", 1L << 30));
      CompletableFuture<List<Integer>> received = contents(pair.server());
      List<Thread> senders = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int stream = i;
        senders.add(
            new Thread(
                () -> {
                  for (int n = 0; n < each; n++) {
                    connection.sendFrame(
                        2 * stream + 1, frame(connection, stream * each + n, Integer.BYTES));
                  }
                }));
      }
      senders.forEach(Thread::start);
      for (Thread sender : senders) {
        sender.join();
      }
      connection.dispose();

      assertThat(received).succeedsWithin(Ends.LIMIT);
      int[] next = new int[threads];
      for (int content : received.join()) {
        assertThat(content % each).isEqualTo(next[content / each]++);
      }
      assertThat(next).containsOnly(each);
    }
  }

  @Test
  void namesThePeer() {
    try (Ends ends = Ends.create()) {
      RdmaConnection client = ends.connect().client();
      FrameConnection connection = FrameConnection.over(client, queues);
      assertThat(connection.remoteAddress()).hasToString(client.peer());
      assertThat(connection.availability()).isEqualTo(1.0);
      connection.dispose();
      assertThat(connection.availability()).isZero();
    }
  }
}
