// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A listener is closed while clients connect and its program accepts. Each connect ends in exactly
 * one way and leaves nothing behind, whether or not the program took its request.
 */
@Tag("once")
class ClosingListenerTest {
  private static final Set<ConnectionEvent.Type> ENDS =
      EnumSet.of(
          ConnectionEvent.Type.ESTABLISHED,
          ConnectionEvent.Type.REJECTED,
          ConnectionEvent.Type.UNREACHABLE);
  private static final int ROUNDS = 12;
  private static final int CONNECTS = 8;
  private static final int MOST_SPINS = 200_000;

  private static final long SEED = 20_261_124;

  private final SplittableRandom random = new SplittableRandom(SEED);

  @Test
  void eachConnectEndsAndNothingIsLeft() throws Exception {
    URI address = URI.create("roce://" + Loopbacks.address(42) + ":7000");
    int established = 0;
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      try (Caller passive = new Caller(address);
          Caller active = new Caller(address)) {
        ConnectionListener listener = passive.manager.listen(address, CONNECTS / 2);
        Accepting accepting = new Accepting(passive);
        accepting.thread.start();
        Set<ConnectionIdentifier> asked = connect(active, listener.address());
        for (int spins = random.nextInt(MOST_SPINS); spins > 0; spins--) {
          Thread.onSpinWait();
        }

        listener.close();

        Set<ConnectionIdentifier> open = new HashSet<>();
        for (Set<ConnectionIdentifier> left = new HashSet<>(asked); !left.isEmpty(); ) {
          ConnectionEvent event = active.manager.await(Caller.LIMIT.toNanos());
          assertThat(event)
              .as("the end of a connect, of %d in round %d", left.size(), round)
              .isNotNull();
          if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
            assertThat(open).contains(event.identifier());
            continue;
          }
          assertThat(event.type()).isIn(ENDS);
          assertThat(left.remove(event.identifier())).as("an end told once").isTrue();
          if (event.type() == ConnectionEvent.Type.ESTABLISHED) {
            open.add(event.identifier());
          }
        }
        accepting.stop();
        assertThat(accepting.failure.get()).isNull();
        established += open.size();
        refused += asked.size() - open.size();
        assertThat(accepting.requests.get()).isGreaterThanOrEqualTo(open.size());
      }
    }
    assertThat(established).as("connects that were before the close").isPositive();
    assertThat(refused).as("connects that the close met").isPositive();
    try (Caller last = new Caller(address)) {
      RoceConnectionManager manager = (RoceConnectionManager) last.manager;
      await().atMost(Caller.LIMIT).until(() -> known(manager) == 0);
    }
  }

  private static Set<ConnectionIdentifier> connect(Caller active, URI to)
      throws InterruptedException {
    Set<ConnectionIdentifier> asked = new HashSet<>();
    for (int i = 0; i < CONNECTS; i++) {
      ConnectionIdentifier identifier = active.manager.resolve(to, Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      assertThat(active.queuePair(identifier).number()).isPositive();
      asked.add(identifier);
    }
    for (ConnectionIdentifier identifier : asked) {
      identifier.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    }
    return asked;
  }

  private static int known(RoceConnectionManager manager) {
    manager.fabric().enter();
    try {
      return manager.agent().known();
    } finally {
      manager.fabric().leave();
    }
  }

  /** A program that accepts each request it takes. */
  private static final class Accepting {
    final Thread thread = new Thread(this::run);
    final AtomicInteger requests = new AtomicInteger();
    final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final Caller passive;
    private volatile boolean stopped;

    Accepting(Caller passive) {
      this.passive = passive;
    }

    private void run() {
      try {
        while (!stopped) {
          ConnectionEvent event = passive.manager.await(1_000_000);
          if (event != null && event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
            requests.incrementAndGet();
            accept(event.identifier());
          }
        }
      } catch (InterruptedException | RuntimeException | Error e) {
        failure.set(e);
      }
    }

    private void accept(ConnectionIdentifier identifier) {
      assertThat(passive.queuePair(identifier).number()).isPositive();
      try {
        identifier.accept(ConnectionParameters.defaults());
      } catch (VerbsException e) {
        throw new AssertionError("accept of a request that was taken", e);
      }
    }

    void stop() throws InterruptedException {
      stopped = true;
      thread.join(Caller.LIMIT.toMillis());
      assertThat(thread.isAlive()).isFalse();
    }
  }
}
