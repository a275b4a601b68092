// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.meters.Backlog;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests that a meter that throws harms nothing. */
class ThrowingMeterTest {
  /** The field keeps the logger, as a logger without references loses its level. */
  private static final Logger LOGGER = Logger.getLogger(HcaMeter.class.getName());

  @BeforeAll
  static void quiet() {
    LOGGER.setLevel(Level.OFF);
  }

  @AfterAll
  static void loud() {
    LOGGER.setLevel(null);
  }

  /** The method that throws. */
  enum MeterMethod {
    HCA,
    CONNECTION,
    COMPLETION_QUEUES,
    COMPLETIONS_RESERVED,
    RECEIVE_POOL,
    POLLED,
    FAILED,
    CLOSE,
    POSTED,
    COMPLETED,
    SENT,
    RECEIVED,
    CONNECTION_CLOSE,
    /** From here on, methods that are called only after a failure or some time. */
    LOOP_STALLED,
    PEER_ASKED,
    PEER_FOUND_DEAD;

    boolean isCommon() {
      return compareTo(LOOP_STALLED) < 0;
    }
  }

  static Stream<Arguments> all() {
    return Stream.of(MeterMethod.values())
        .filter(MeterMethod::isCommon)
        .flatMap(method -> Stream.of(true, false).map(error -> Arguments.of(method, error)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void harmsNoConnection(MeterMethod method, boolean error) {
    ThrowingMeter meter = new ThrowingMeter(method, error);
    try (Ends ends = Ends.create(Ends.options().meters(meter))) {
      Ends.Pair pair = ends.connect();

      exchange(pair);
      ends.clientSide().connect(Addresses.of("nobody")).onErrorComplete().block(Ends.LIMIT);
      pair.client().close().block(Ends.LIMIT);

      exchange(ends.connect());
    }
    // The meter throws in the threads that call it, for none of which this thread waits.
    await().atMost(Ends.LIMIT).until(() -> meter.thrown.get() > 0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void harmsNobodyWhenALoopIsHeldUp(boolean error) {
    ThrowingMeter meter = new ThrowingMeter(MeterMethod.LOOP_STALLED, error);
    try (Ends ends =
        Ends.create(
            Ends.options(),
            Ends.options().loops(1).stallWarning(Duration.ofMillis(10)).meters(meter))) {
      Ends.Pair pair = ends.connect();
      CountDownLatch letGo = new CountDownLatch(1);
      pair.client()
          .send(Mono.empty())
          .subscribe(null, null, () -> await().atMost(Ends.LIMIT).until(() -> isDown(letGo)));

      await().atMost(Ends.LIMIT).until(() -> meter.thrown.get() > 0);
      letGo.countDown();

      exchange(pair);
    }
  }

  private static boolean isDown(CountDownLatch latch) {
    return latch.getCount() == 0;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void harmsNoConnectionThatAsksItsPeer(boolean error) {
    ThrowingMeter meter = new ThrowingMeter(MeterMethod.PEER_ASKED, error);
    RdmaOptions.Builder asking = Ends.options().keepAlive(Duration.ofMillis(100));
    try (Ends ends = Ends.create(asking.meters(meter))) {
      Ends.Pair pair = ends.connect();

      await().atMost(Ends.LIMIT).until(() -> meter.thrown.get() > 1);

      exchange(pair);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void harmsNobodyWhenAPeerIsFoundDead(boolean error) throws Exception {
    ThrowingMeter meter = new ThrowingMeter(MeterMethod.PEER_FOUND_DEAD, error);
    RdmaOptions.Builder asking =
        Ends.options()
            .keepAlive(Duration.ofMillis(100))
            .operationTimeout(Addresses.within(Duration.ofSeconds(2)));
    try (Ends ends = Ends.create(Ends.options(), asking.meters(meter));
        RawPeer peer = RawPeer.listening()) {
      CompletableFuture<RdmaConnection> connecting =
          ends.clientSide().connect(peer.address()).toFuture();
      peer.accept(RawPeer.handshake().encode());
      assertThat(connecting).succeedsWithin(Ends.LIMIT);

      peer.vanish();

      assertThat(connecting.join().onClose().toFuture())
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .withCauseInstanceOf(PeerUnreachableException.class);
      assertThat(meter.thrown).hasValue(1);
      exchange(ends.connect());
    }
  }

  private static void exchange(Ends.Pair pair) {
    RdmaConnection client = pair.client();
    client
        .send(Flux.range(0, 3).map(i -> Ends.message(client, 100, i)))
        .onErrorComplete()
        .subscribe();
    assertThat(pair.server().receive().take(3).doOnNext(ByteBuf::release).count().block(Ends.LIMIT))
        .isEqualTo(3);
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    try (RdmaMemory.Region region =
        pair.server().memory().register(memory, Set.of(RemoteMemory.Right.READ))) {
      assertThat(client.read(region.token()).map(Ends::take).block(Ends.LIMIT)).hasSize(64);
    }
  }

  /** A meter in which one method throws. */
  private static final class ThrowingMeter extends HcaMeter implements Meters {
    private final MeterMethod method;
    private final boolean error;
    private final AtomicInteger thrown = new AtomicInteger();

    ThrowingMeter(MeterMethod method, boolean error) {
      this.method = method;
      this.error = error;
    }

    private void throwAt(MeterMethod here) {
      if (here == method) {
        thrown.incrementAndGet();
        if (error) {
          throw new NoSuchMethodError("thrown by a test");
        }
        throw new IllegalStateException("thrown by a test");
      }
    }

    @Override
    public HcaMeter hca(MeteredHca hca) {
      throwAt(MeterMethod.HCA);
      return this;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }

    @Override
    public ConnectionMeter connection(ConnectionState state, int slots) {
      throwAt(MeterMethod.CONNECTION);
      return new ThrowingConnectionMeter(this);
    }

    @Override
    public void completionQueues(long entries) {
      throwAt(MeterMethod.COMPLETION_QUEUES);
    }

    @Override
    public void completionsReserved(long entries) {
      throwAt(MeterMethod.COMPLETIONS_RESERVED);
    }

    @Override
    public void receivePool(long size, long promised) {
      throwAt(MeterMethod.RECEIVE_POOL);
    }

    @Override
    public void polled(int completions) {
      throwAt(MeterMethod.POLLED);
    }

    @Override
    public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {
      throwAt(MeterMethod.FAILED);
    }

    @Override
    public void loopStalled(long nanos) {
      throwAt(MeterMethod.LOOP_STALLED);
    }

    @Override
    public void peerAsked() {
      throwAt(MeterMethod.PEER_ASKED);
    }

    @Override
    public void peerFoundDead() {
      throwAt(MeterMethod.PEER_FOUND_DEAD);
    }

    @Override
    public void close() {
      throwAt(MeterMethod.CLOSE);
    }
  }

  private static final class ThrowingConnectionMeter extends ConnectionMeter {
    private final ThrowingMeter meter;

    ThrowingConnectionMeter(ThrowingMeter meter) {
      this.meter = meter;
    }

    @Override
    public void posted(int slot, SendWorkRequest request) {
      meter.throwAt(MeterMethod.POSTED);
    }

    @Override
    public void completed(int slot, CompletionStatus status) {
      meter.throwAt(MeterMethod.COMPLETED);
    }

    @Override
    public void sent(int bytes) {
      meter.throwAt(MeterMethod.SENT);
    }

    @Override
    public void received(int bytes) {
      meter.throwAt(MeterMethod.RECEIVED);
    }

    @Override
    public void close() {
      meter.throwAt(MeterMethod.CONNECTION_CLOSE);
    }
  }
}
