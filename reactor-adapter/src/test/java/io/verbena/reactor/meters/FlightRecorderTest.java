// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.reactor.testing.Ends;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests the Flight Recorder events of connections. Concurrent tests have other peers. */
class FlightRecorderTest {
  private static final String OPENED = "io.verbena.ConnectionOpened";
  private static final String CLOSED = "io.verbena.ConnectionClosed";
  private static final String FAILED = "io.verbena.ConnectionFailed";
  private static final String STALL = "io.verbena.CreditStall";
  private static final String LOOP_STALL = "io.verbena.LoopStall";
  private static final String REFUSED = "io.verbena.MemoryRefused";

  // Each test has its own recording, as on some HCAs the next test gets the same ports again.
  private final Recording recording = new Recording();

  @TempDir private Path folder = Path.of("");

  @BeforeEach
  void record() {
    for (String name : List.of(OPENED, CLOSED, FAILED, STALL, LOOP_STALL, REFUSED)) {
      recording.enable(name).withThreshold(Duration.ZERO);
    }
    recording.start();
  }

  @AfterEach
  void stop() {
    recording.close();
  }

  @Test
  void showsBothEndsOfAConnectionThatOpensAndCloses() throws Exception {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> other = pair.server().close().toFuture();
      pair.client().close().block(Ends.LIMIT);
      assertThat(other).succeedsWithin(Ends.LIMIT);

      List<RecordedEvent> opened = events(OPENED, pair);
      assertThat(opened)
          .hasSize(2)
          .allSatisfy(event -> assertThat(event.getString("adapter")).isEqualTo("reactor"));
      assertThat(queuePairs(opened)).doesNotHaveDuplicates();
      assertThat(queuePairs(events(CLOSED, pair)))
          .containsExactlyInAnyOrderElementsOf(queuePairs(opened));
      assertThat(events(FAILED, pair)).isEmpty();
    }
  }

  @Test
  void showsWhyAConnectionFailed() throws Exception {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> ended = pair.client().onClose().toFuture();
      pair.server().dispose();
      await().atMost(Ends.LIMIT).until(ended::isDone);

      assertThat(events(FAILED, pair))
          .singleElement()
          .satisfies(
              event -> assertThat(event.getString("reason")).contains("the peer disconnected"));
      await().atMost(Ends.LIMIT).until(() -> events(CLOSED, pair).size() == 1);
    }
  }

  @Test
  void showsHowLongSendsWaitedForCredits() throws Exception {
    try (Ends ends = Ends.create(Ends.options().window(4))) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<Void> sent =
          pair.client()
              .send(Flux.range(0, 20).map(n -> Ends.message(pair.client(), 10, n)))
              .toFuture();
      OneByOne receiver = new OneByOne();
      pair.server().receive().subscribe(receiver);
      for (int i = 0; i < 20; i++) {
        receiver.request(1);
      }
      assertThat(sent).succeedsWithin(Ends.LIMIT);
      pair.client().dispose();
      pair.client().onClose().onErrorComplete().block(Ends.LIMIT);

      assertThat(events(STALL, pair))
          .isNotEmpty()
          .allSatisfy(event -> assertThat(event.getDuration()).isPositive());
    }
  }

  @Test
  void showsMemoryThatWasRefused() throws Exception {
    int limit = (4 << 20) + 4096;
    try (Ends ends = Ends.create(Ends.options().maxRegisteredBytes(limit))) {
      Ends.Pair pair = ends.connect();
      ByteBufAllocator allocator = pair.client().memory().allocator();
      assertThatThrownBy(() -> allocator.directBuffer(2 * limit))
          .isInstanceOf(MemoryLimitException.class);

      assertThat(events(REFUSED))
          .anySatisfy(
              event -> {
                assertThat(event.getLong("limit")).isEqualTo(limit);
                assertThat(event.getLong("wanted")).isGreaterThanOrEqualTo(2L * limit);
              });
    }
  }

  @Test
  void showsALoopThatIsHeldUp() throws Exception {
    Duration limit = Duration.ofMillis(50);
    try (Ends ends = Ends.create(Ends.options().stallWarning(limit))) {
      Ends.Pair pair = ends.connect();
      CountDownLatch letGo = new CountDownLatch(1);
      AtomicReference<String> loop = new AtomicReference<>("");
      pair.client()
          .send(Mono.fromSupplier(() -> Ends.message(pair.client(), 8, 1)))
          .subscribe(
              null,
              e -> {},
              () -> {
                loop.set(Thread.currentThread().getName());
                awaitLatch(letGo);
              });
      try {
        await()
            .atMost(Ends.LIMIT)
            .untilAsserted(
                () ->
                    assertThat(events(LOOP_STALL))
                        .filteredOn(event -> event.getString("loop").equals(loop.get()))
                        .anySatisfy(
                            event ->
                                assertThat(event.getDuration("heldUp"))
                                    .isGreaterThanOrEqualTo(limit)));
      } finally {
        letGo.countDown();
      }
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<Integer> queuePairs(List<RecordedEvent> events) {
    return events.stream().map(event -> event.getInt("queuePair")).toList();
  }

  /** Returns the events with this name for both ends of a connection. */
  private List<RecordedEvent> events(String name, Ends.Pair pair) throws Exception {
    List<String> peers = List.of(pair.client().peer(), pair.server().peer());
    return events(name).stream().filter(event -> isOf(peers, event)).toList();
  }

  /**
   * Returns whether an event is of these peers. In JDK 17 an event of a concurrent test may have
   * lost its strings as a new chunk began.
   */
  private static boolean isOf(List<String> peers, RecordedEvent event) {
    String peer = event.getString("peer");
    return peer != null && peers.contains(peer);
  }

  private List<RecordedEvent> events(String name) throws Exception {
    Path file = folder.resolve("recorded.jfr");
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals(name))
        .toList();
  }

  private static final class OneByOne extends BaseSubscriber<ByteBuf> {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // The test itself requests.
    }

    @Override
    protected void hookOnNext(ByteBuf message) {
      message.release();
    }
  }
}
