// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTimeoutException;
import io.verbena.RdmaTransport;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.NamedProvider;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** Tests connects while name services are slow. */
class NameLookupTest {

  @Test
  void keepsTheLoopAndTheTransportGoingMeanwhile() {
    try (Ends ends = Ends.create(Ends.options().loops(1))) {
      URI named = NamedProvider.named(ends.address());
      Ends.Pair pair = ends.connect();
      CountDownLatch held = NamedProvider.hold(named);
      try {
        CompletableFuture<RdmaConnection> slow =
            send(pair).then(ends.clientSide().connect(named)).toFuture();

        assertThat(receive(pair)).hasSize(8);
        Ends.Pair other = ends.connect();
        send(other).block(Ends.LIMIT);
        assertThat(receive(other)).hasSize(8);
        assertThat(slow).isNotDone();

        held.countDown();
        assertThat(slow).succeedsWithin(Ends.LIMIT);
      } finally {
        held.countDown();
      }
    }
  }

  @Test
  void endsWithTheDeadlineOfTheConnect() {
    try (Ends ends =
        Ends.create(Ends.options(), Ends.options().connectTimeout(Duration.ofMillis(100)))) {
      URI named = NamedProvider.named(ends.address());
      CountDownLatch held = NamedProvider.hold(named);
      try {
        assertThatThrownBy(() -> ends.clientSide().connect(named).block(Ends.LIMIT))
            .isInstanceOf(RdmaTimeoutException.class)
            .hasMessageContaining("host name");
        assertThatThrownBy(() -> ends.clientSide().bind(named, c -> Mono.never()).block(Ends.LIMIT))
            .isInstanceOf(RdmaTimeoutException.class);
        assertThatThrownBy(() -> ends.clientSide().memory(named))
            .isInstanceOf(RdmaTimeoutException.class);
      } finally {
        held.countDown();
      }
    }
  }

  @Test
  void endsWhenTheTransportIsDisposed() {
    try (Ends ends = Ends.create()) {
      URI named = NamedProvider.named(ends.address());
      CountDownLatch held = NamedProvider.hold(named);
      RdmaTransport transport = RdmaTransport.create(Ends.options().build());
      try {
        CompletableFuture<RdmaConnection> slow = transport.connect(named).toFuture();

        transport.dispose();

        assertThat(slow)
            .failsWithin(Ends.LIMIT)
            .withThrowableThat()
            .havingCause()
            .isInstanceOf(RdmaConnectException.class)
            .withMessageContaining("disposed");
      } finally {
        held.countDown();
        transport.dispose();
      }
    }
  }

  @Test
  void refusesToWaitForANameOnALoop() {
    try (Ends ends = Ends.create()) {
      URI named = NamedProvider.named(ends.address());
      Ends.Pair pair = ends.connect();

      assertThatThrownBy(
              () ->
                  send(pair)
                      .then(Mono.fromCallable(() -> ends.clientSide().memory(named)))
                      .block(Ends.LIMIT))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("would block")
          .hasMessageContaining(named.toString());
      assertThat(receive(pair)).hasSize(8);
      assertThat(ends.clientSide().memory(named)).isSameAs(ends.clientSide().memory(named));
    }
  }

  @Test
  void failsForAnUnknownName() {
    try (Ends ends = Ends.create()) {
      URI unknown = NamedProvider.unknown(ends.address());

      assertThatThrownBy(() -> ends.clientSide().connect(unknown).block(Ends.LIMIT))
          .isInstanceOf(RdmaConnectException.class)
          .hasMessageContaining("no address of the host")
          .rootCause()
          .hasMessageContaining(unknown + ": unknown host");
    }
  }

  static Stream<Arguments> hostile() {
    return Stream.of(NamedProvider.ProviderMethod.values())
        .flatMap(method -> Stream.of(Fault.Kind.values()).map(kind -> Arguments.of(method, kind)));
  }

  @ParameterizedTest
  @MethodSource("hostile")
  void failsTypedWhateverAProviderThrows(NamedProvider.ProviderMethod method, Fault.Kind kind) {
    try (Ends ends = Ends.create()) {
      URI hostile = NamedProvider.hostile(ends.address(), method, kind);
      RdmaTransport transport = ends.clientSide();

      assertTyped(() -> transport.connect(hostile).block(Ends.LIMIT));
      assertTyped(() -> transport.bind(hostile, c -> Mono.never()).block(Ends.LIMIT));
      assertTyped(() -> transport.memory(hostile));

      Ends.Pair pair = ends.connect();
      send(pair).block(Ends.LIMIT);
      assertThat(receive(pair)).hasSize(8);
    }
  }

  private static void assertTyped(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(RdmaConnectException.class)
        .rootCause()
        .hasMessage(Fault.MESSAGE);
  }

  private static Mono<Void> send(Ends.Pair pair) {
    return pair.client().send(Mono.fromSupplier(() -> Ends.message(pair.client(), 8, 1)));
  }

  private static byte[] receive(Ends.Pair pair) {
    return pair.server().receive().next().map(Ends::take).block(Ends.LIMIT);
  }
}
