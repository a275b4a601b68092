// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket.suite;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.rsocket.Closeable;
import io.rsocket.Payload;
import io.rsocket.test.TransportTest;
import io.rsocket.transport.ServerTransport;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.rsocket.RdmaClientTransport;
import io.verbena.rsocket.RdmaServerTransport;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/**
 * A variant of RSocket's tests. Frames come from the allocators of the connections, which Netty's
 * leak detection watches. The disposal of the transport fails if an object of its devices is open.
 *
 * <p>Some tests run with fewer payloads, as they take minutes while each buffer is watched; with
 * {@code -Dverbena.test.rsocket.whole=true} they have RSocket's own numbers. A test that exceeds
 * its limit seems to hang in {@code close()}: RSocket waits there as long again for what still
 * runs, since a step verifier that gives up cancels nothing. While it waits it spins, a dozen of
 * them at once in {@code requestChannel256}.
 */
abstract class RdmaTransportTest implements TransportTest {
  private static final boolean WHOLE = Boolean.getBoolean("verbena.test.rsocket.whole");

  /** The limit of a test; RSocket's own transports have three minutes for each. */
  private static final Duration LIMIT = Addresses.within(Duration.ofMinutes(WHOLE ? 3 : 1));

  private static final AtomicLong NAMES = new AtomicLong();

  private final boolean fragmenting;
  private final boolean resumable;

  /** The transport of both ends, with their one loop: the suite waits for each round trip. */
  private final RdmaTransport transport = RdmaTransport.create(Ends.options().build());

  private @Nullable TransportPair<URI, Closeable> pair;

  RdmaTransportTest(boolean fragmenting, boolean resumable) {
    this.fragmenting = fragmenting;
    this.resumable = resumable;
  }

  @BeforeEach
  void connect() {
    pair =
        new TransportPair<>(
            () -> Addresses.of("rsocket-" + NAMES.incrementAndGet()),
            (address, server, allocator) -> RdmaClientTransport.create(address, transport),
            (address, allocator) -> server(RdmaServerTransport.create(address, transport)),
            fragmenting,
            resumable);
  }

  /**
   * Starts the server; only connections that are not resumable have the suite's asynchronous
   * interceptor.
   */
  private ServerTransport<Closeable> server(RdmaServerTransport server) {
    return resumable
        ? acceptor -> server.start(acceptor).cast(Closeable.class)
        : acceptor -> SettledServer.over(server).start(acceptor).cast(Closeable.class);
  }

  @Override
  @Test
  public void requestChannel200_000() {
    if (WHOLE) {
      TransportTest.super.requestChannel200_000();
    } else {
      int count = some(5_000);
      expect(count, requestChannel(count, 8));
    }
  }

  @Override
  @Test
  public void requestChannel20_000() {
    if (WHOLE || (Addresses.areEmulated() && !resumable)) {
      TransportTest.super.requestChannel20_000();
    } else {
      int count = some(20_000);
      expect(count, requestChannel(count, Integer.MAX_VALUE));
    }
  }

  @Override
  @Test
  public void requestResponse10_000() {
    if (WHOLE || (Addresses.areEmulated() && !resumable)) {
      TransportTest.super.requestResponse10_000();
    } else {
      int count = some(10_000);
      expect(
          count,
          Flux.range(1, count).flatMap(n -> getClient().requestResponse(createTestPayload(n))));
    }
  }

  @Override
  @Test
  public void requestChannel256() {
    if (WHOLE) {
      TransportTest.super.requestChannel256();
    } else {
      int streams = some(24);
      expect(streams * 256, Flux.range(0, streams).flatMap(stream -> requestChannel(256, 8), 4));
    }
  }

  @Override
  @Test
  public void largePayloadRequestChannel50() {
    if (WHOLE || !fragmenting) {
      TransportTest.super.largePayloadRequestChannel50();
    } else {
      int count = some(10);
      expect(count, getClient().requestChannel(large(count)));
    }
  }

  @Override
  @Test
  public void largePayloadRequestResponse50() {
    if (WHOLE || !fragmenting) {
      TransportTest.super.largePayloadRequestResponse50();
    } else {
      int count = some(10);
      expect(count, large(count).flatMap(getClient()::requestResponse));
    }
  }

  /**
   * Returns the number of payloads for which there is time; a resumable connection keeps them, too.
   */
  private int some(int payloads) {
    return Addresses.rounds(resumable ? payloads / 4 : payloads);
  }

  private static Flux<Payload> large(int count) {
    return Flux.range(0, count).map(n -> LARGE_PAYLOAD.retain());
  }

  /**
   * Counts the payloads without a StepVerifier, which spins while it waits and so takes the only
   * CPU of a guest.
   */
  private static void expect(int count, Flux<Payload> payloads) {
    assertThat(payloads.doOnNext(Payload::release).count().block(LIMIT)).isEqualTo(count);
  }

  private Flux<Payload> requestChannel(int payloads, int rate) {
    return getClient()
        .requestChannel(Flux.range(0, payloads).map(this::createTestPayload))
        .limitRate(rate);
  }

  @Override
  @AfterEach
  public void close() {
    try {
      TransportTest.super.close();
    } finally {
      transport.dispose();
    }
  }

  @Override
  public Duration getTimeout() {
    return LIMIT;
  }

  @Override
  public TransportPair<URI, Closeable> getTransportPair() {
    return requireNonNull(pair, "pair");
  }
}
