// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTimeoutException;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.NamedProvider;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;

/** Tests a provider that opens one of its two devices to find the one for an address. */
class DeviceOpeningTest {

  @Test
  void opensADeviceOnceForAllConnectsToAHost() {
    try (Ends ends = Ends.create()) {
      URI named = NamedProvider.named(ends.address());

      List<CompletableFuture<RdmaConnection>> atOnce = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        atOnce.add(ends.clientSide().connect(named).toFuture());
      }
      assertThat(atOnce).allSatisfy(each -> assertThat(each).succeedsWithin(Ends.LIMIT));
      for (int i = 0; i < 4; i++) {
        assertThat(ends.clientSide().connect(named).block(Ends.LIMIT)).isNotNull();
      }
      assertThat(ends.clientSide().memory(named)).isSameAs(atOnce.get(0).join().memory());

      assertThat(NamedProvider.openers(named)).hasSize(1);
    }
  }

  @Test
  void opensNoDeviceOnALoopAndHoldsNobodyUpMeanwhile() {
    try (Ends ends = Ends.create(Ends.options().loops(1))) {
      URI named = NamedProvider.named(ends.address());
      Ends.Pair pair = ends.connect();
      CountDownLatch held = NamedProvider.holdOpening(named);
      try {
        CompletableFuture<RdmaConnection> slow =
            send(pair).then(Mono.defer(() -> ends.clientSide().connect(named))).toFuture();
        await().atMost(Ends.LIMIT).until(() -> !NamedProvider.openers(named).isEmpty());

        // This connection has the same loop and the same transport.
        send(ends.connect()).block(Ends.LIMIT);
        assertThat(ends.clientSide().isDisposed()).isFalse();
        assertThat(slow).isNotDone();

        held.countDown();
        assertThat(slow).succeedsWithin(Ends.LIMIT);
        assertThat(NamedProvider.openers(named)).singleElement().isNotInstanceOf(NonBlocking.class);
      } finally {
        held.countDown();
      }
    }
  }

  @Test
  void refusesToOpenADeviceOnALoopForItsMemory() {
    try (Ends ends = Ends.create()) {
      URI resolved = URI.create(NamedProvider.named(ends.address()) + "?resolved");
      Ends.Pair pair = ends.connect();

      assertThatThrownBy(
              () ->
                  send(pair)
                      .then(Mono.fromCallable(() -> ends.clientSide().memory(resolved)))
                      .block(Ends.LIMIT))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("opening the device of " + resolved + " would block");
      assertThat(NamedProvider.openers(resolved)).isEmpty();
      assertThat(ends.clientSide().memory(resolved)).isNotNull();
    }
  }

  @Test
  void givesUpAfterTheDeadlineOfTheConnect() {
    try (Ends ends =
        Ends.create(Ends.options(), Ends.options().connectTimeout(Duration.ofMillis(100)))) {
      // A resolved address, as the lookup of a name would have the same deadline.
      URI resolved = URI.create(NamedProvider.named(ends.address()) + "?resolved");
      CountDownLatch held = NamedProvider.holdOpening(resolved);
      try {
        assertThatThrownBy(() -> ends.clientSide().connect(resolved).block(Ends.LIMIT))
            .isInstanceOf(RdmaTimeoutException.class)
            .hasMessageContaining("no device was open");
      } finally {
        held.countDown();
      }
    }
  }

  @Test
  void closesADeviceThatOpensWhileTheTransportIsDisposed() throws Exception {
    try (Ends ends = Ends.create()) {
      URI named = NamedProvider.named(ends.address());
      CountDownLatch held = NamedProvider.holdOpening(named);
      RdmaTransport transport =
          RdmaTransport.create(Ends.options().closeTimeout(Ends.LIMIT).build());
      try {
        CompletableFuture<RdmaConnection> slow = transport.connect(named).toFuture();
        await().atMost(Ends.LIMIT).until(() -> !NamedProvider.openers(named).isEmpty());
        CompletableFuture<Void> disposed = CompletableFuture.runAsync(transport::dispose);

        assertThat(slow)
            .failsWithin(Ends.LIMIT)
            .withThrowableThat()
            .havingCause()
            .isInstanceOf(RdmaConnectException.class)
            .withMessageContaining("disposed");
        assertThat(disposed).isNotDone();
        held.countDown();
        // The dispose has closed the device by then, and would fail if an object were still open.
        assertThat(disposed).succeedsWithin(Ends.LIMIT);
      } finally {
        held.countDown();
        transport.dispose();
      }
    }
  }

  @Test
  void closesAllElseThoughADeviceIsStillBeingOpened() {
    assumeTrue(Addresses.areEmulated());
    try (Ends ends = Ends.create()) {
      URI named = NamedProvider.named(ends.address());
      CountDownLatch held = NamedProvider.holdOpening(named);
      RdmaTransport transport =
          RdmaTransport.create(Ends.options().closeTimeout(Duration.ofMillis(1)).build());
      try {
        RdmaServer server =
            transport
                .bind(Addresses.of("opened-before"), c -> Mono.never())
                .blockOptional(Ends.LIMIT)
                .orElseThrow();
        RdmaConnection connection =
            transport.connect(ends.address()).blockOptional(Ends.LIMIT).orElseThrow();
        CompletableFuture<RdmaConnection> slow = transport.connect(named).toFuture();
        await().atMost(Ends.LIMIT).until(() -> !NamedProvider.openers(named).isEmpty());

        assertThatThrownBy(transport::dispose)
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining("a device is being opened");

        assertThat(server.isDisposed()).isTrue();
        assertThat(connection.isDisposed()).isTrue();
        assertThat(slow).failsWithin(Ends.LIMIT);
      } finally {
        held.countDown();
        transport.dispose();
      }
    }
  }

  private static Mono<Void> send(Ends.Pair pair) {
    return pair.client().send(Mono.fromSupplier(() -> Ends.message(pair.client(), 8, 1)));
  }
}
