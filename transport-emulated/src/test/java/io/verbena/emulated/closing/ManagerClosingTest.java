// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Caller;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One thread closes a connection manager or one of its objects while another thread creates an
 * object or connects. The close fails as busy, or it succeeds and leaves nothing open.
 */
class ManagerClosingTest {
  private static final int ROUNDS = Integer.getInteger("verbena.closing.rounds", 50);

  /** The object that the other thread creates. */
  private enum Made {
    LISTENER,
    IDENTIFIER;

    AutoCloseable of(ConnectionManager manager, Medium medium) {
      return this == LISTENER
          ? manager.listen(medium.own(), 1)
          : manager.resolve(medium.peer(), Caller.LIMIT.toNanos());
    }
  }

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Medium medium : Medium.values()) {
      for (Made made : Made.values()) {
        cells.add(Arguments.of(medium, made));
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("cells")
  void isBusyOrClosedAndLetsWhoWaitsReturn(Medium medium, Made made) throws Exception {
    try (EmulatedDevice device = medium.open()) {
      for (int i = 0; i < ROUNDS; i++) {
        round(device, medium, made);
      }
    }
  }

  private static void round(EmulatedDevice device, Medium medium, Made made) throws Exception {
    ConnectionManager manager = device.createConnectionManager();
    CyclicBarrier start = new CyclicBarrier(3);
    AtomicReference<AutoCloseable> left = new AtomicReference<>();
    CompletableFuture<Boolean> refused =
        started(start, () -> fails(VerbsError.CLOSED, () -> left.set(made.of(manager, medium))));
    CompletableFuture<Boolean> busy = started(start, () -> fails(VerbsError.BUSY, manager::close));
    CompletableFuture<Boolean> waiting = started(start, () -> awaitClose(manager));

    boolean isRefused = refused.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
    boolean isBusy = busy.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);

    assertThat(isBusy).as("busy; what was made is refused: %s", isRefused).isNotEqualTo(isRefused);
    AutoCloseable open = left.get();
    if (open != null) {
      open.close();
    }
    manager.close();
    assertThat(waiting.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(() -> made.of(manager, medium))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.CLOSED));
  }

  /** Takes events until the manager is closed; returns false if the time ran out first. */
  private static boolean awaitClose(ConnectionManager manager) throws InterruptedException {
    long begun = System.nanoTime();
    ConnectionEvent event;
    do {
      event = manager.await(2 * Caller.LIMIT.toNanos());
    } while (event != null);
    return System.nanoTime() - begun < 2 * Caller.LIMIT.toNanos();
  }

  /** A device with the objects that its queue pairs need. */
  private static final class Side implements AutoCloseable {
    final EmulatedDevice device = Medium.DIRECT.open();
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue completions = device.createCompletionQueue(4, null);

    QueuePair queuePair(ConnectionIdentifier of) {
      return of.createQueuePair(domain, QueuePairOptions.reliable(completions, completions, 1, 1));
    }

    @Override
    public void close() {
      completions.close();
      domain.close();
      device.close();
    }
  }

  /** A listener, and an identifier that is ready to connect to it. */
  private static final class Link {
    final ConnectionManager listening;
    final ConnectionListener listener;
    final ConnectionManager asking;
    final ConnectionIdentifier asker;
    private final QueuePair pair;

    Link(Side active, Side passive) throws InterruptedException {
      listening = passive.device.createConnectionManager();
      listener = listening.listen(Medium.DIRECT.own(), 1);
      asking = active.device.createConnectionManager();
      asker = asking.resolve(Medium.DIRECT.own(), Caller.LIMIT.toNanos());
      pair = active.queuePair(asker);
      assertThat(next(asking)).isEqualTo(ConnectionEvent.Type.ADDR_RESOLVED);
    }

    static ConnectionEvent.Type next(ConnectionManager manager) throws InterruptedException {
      ConnectionEvent event = manager.await(Caller.LIMIT.toNanos());
      assertThat(event).as("a connection event").isNotNull();
      return event.type();
    }

    boolean connect() {
      asker.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      return true;
    }

    boolean closeListener() {
      listener.close();
      listening.close();
      return true;
    }

    boolean closeAsker() {
      asker.close();
      pair.close();
      asking.close();
      return true;
    }
  }

  @Test
  void aClosedListenerLeavesNoRequestInItsManagerAndAnswersWhoAsks() throws Exception {
    try (Side active = new Side();
        Side passive = new Side()) {
      for (int i = 0; i < ROUNDS; i++) {
        Link link = new Link(active, passive);
        CyclicBarrier start = new CyclicBarrier(2);
        CompletableFuture<Boolean> connected = started(start, link::connect);
        CompletableFuture<Boolean> closed = started(start, link::closeListener);

        assertThat(connected.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(closed.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(Link.next(link.asking))
            .isIn(ConnectionEvent.Type.REJECTED, ConnectionEvent.Type.UNREACHABLE);

        link.closeAsker();
      }
    }
  }

  @Test
  void nobodyConnectsToAnAskerThatIsClosed() throws Exception {
    try (Side active = new Side();
        Side passive = new Side()) {
      for (int i = 0; i < ROUNDS; i++) {
        Link link = new Link(active, passive);
        CyclicBarrier start = new CyclicBarrier(2);
        CompletableFuture<Boolean> refused =
            started(start, () -> fails(VerbsError.INVALID, link::connect));
        CompletableFuture<Boolean> closed =
            started(start, () -> fails(VerbsError.CLOSED, link.asker::close));

        assertThat(closed.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isFalse();
        refused.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
        ConnectionEvent request = link.listening.await(0);
        if (request != null) {
          ConnectionIdentifier asked = request.identifier();
          QueuePair pair = passive.queuePair(asked);
          asked.accept(ConnectionParameters.defaults());
          assertThat(Link.next(link.listening)).isEqualTo(ConnectionEvent.Type.CONNECT_ERROR);
          asked.close();
          pair.close();
        }

        link.closeAsker();
        link.closeListener();
      }
    }
  }

  /** A call that may throw. */
  private interface Call<T> {
    T call() throws Exception;
  }

  private static <T> CompletableFuture<T> started(CyclicBarrier start, Call<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                start.await(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
                result.complete(call.call());
              } catch (Exception | AssertionError e) {
                result.completeExceptionally(e);
              }
            },
            "closing");
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  /** Returns whether the call fails with this error; rethrows any other one. */
  private static boolean fails(VerbsError expected, Runnable call) {
    try {
      call.run();
      return false;
    } catch (VerbsException e) {
      if (e.error() != expected) {
        throw new CompletionException(e);
      }
      return true;
    }
  }
}
