// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.verbs.VerbsException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import reactor.core.publisher.Mono;

/**
 * Tests the disposal of a transport whose HCA objects refuse to be closed at first. A device closes
 * last, so a closed device proves that nothing is left.
 */
class DisposeTest {

  private static RdmaConnection connect(Ends ends, RdmaTransport by, int refusals) {
    return by.connect(LimitedProvider.refusing(ends.server().address(), refusals))
        .block(Ends.LIMIT);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void closesWhatRefusedToBeClosedOnce() {
    try (Ends ends = Ends.create()) {
      RdmaTransport transport = RdmaTransport.create(Ends.options().build());
      connect(ends, transport, 1).close().onErrorComplete().block(Ends.LIMIT);
      connect(ends, transport, 1);

      transport.dispose();

      assertThat(transport.isDisposed()).isTrue();
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void namesWhatItCouldNotCloseAndTriesAgain() {
    try (Ends ends = Ends.create()) {
      RdmaTransport transport = RdmaTransport.create(Ends.options().build());
      connect(ends, transport, 5);

      assertThatThrownBy(transport::dispose)
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("left open")
          .hasMessageContaining("connection identifier")
          .hasMessageContaining("device")
          .hasMessageContaining("refused by a test");
      assertThatThrownBy(transport::dispose).isInstanceOf(VerbsException.class);
      transport.dispose();
      transport.dispose();
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void triesAgainToCloseAListenerThatWasDisposedBefore() {
    RdmaTransport transport = RdmaTransport.create(Ends.options().build());
    RdmaServer server =
        transport
            .bind(LimitedProvider.refusing(Addresses.of("refusing-listener"), 2), c -> Mono.never())
            .blockOptional(Ends.LIMIT)
            .orElseThrow();
    assertThatThrownBy(server::dispose).isInstanceOf(VerbsException.class);
    bind(transport, "other-listener").block(Ends.LIMIT);

    await()
        .atMost(Ends.LIMIT)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              transport.dispose();
              assertThat(transport.isDisposed()).isTrue();
            });
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void triesAgainWhenASubscriberHasLetGoOfTheLoop() throws Exception {
    assumeTrue(Addresses.areEmulated());
    try (Ends ends = Ends.create()) {
      RdmaTransport transport =
          RdmaTransport.create(Ends.options().closeTimeout(Duration.ofMillis(1)).build());
      RdmaConnection connection = connect(ends, transport, 0);
      CountDownLatch holds = new CountDownLatch(1);
      CountDownLatch letGo = new CountDownLatch(1);
      connection
          .send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1)))
          .subscribe(
              null,
              e -> {},
              () -> {
                holds.countDown();
                awaitQuietly(letGo);
              });
      assertThat(holds.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      assertThatThrownBy(transport::dispose)
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("held up by a subscriber");
      letGo.countDown();

      transport.dispose();
    }
  }

  @Test
  void leavesNoListenerOfBindsThatMeetIt() throws Exception {
    for (int round = 0; round < Addresses.rounds(100); round++) {
      RdmaTransport transport = RdmaTransport.create(Ends.options().build());
      bind(transport, "before").block(Ends.LIMIT);
      CountDownLatch both = new CountDownLatch(2);
      FutureTask<Integer> binds =
          new FutureTask<>(
              () -> {
                both.countDown();
                both.await();
                int bound = 0;
                while (Boolean.TRUE.equals(
                    bind(transport, "meanwhile" + bound)
                        .hasElement()
                        .onErrorReturn(false)
                        .block(Ends.LIMIT))) {
                  bound++;
                }
                return bound;
              });
      new Thread(binds, "binds").start();

      both.countDown();
      both.await();
      transport.dispose();

      binds.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static Mono<RdmaServer> bind(RdmaTransport by, String name) {
    return by.bind(Addresses.of("disposed-" + name), c -> Mono.never());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
