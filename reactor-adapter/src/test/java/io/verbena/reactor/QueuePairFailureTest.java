// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.RdmaConnection;
import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.DirectMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.VerbsProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Tests a queue pair that fails on its own. The loop runs only when a test runs it. */
class QueuePairFailureTest {
  private final Steps steps = new Steps();
  private final ReactorTransport transport =
      new ReactorTransport(
          Ends.options().build(),
          steps,
          VerbsProviders.load(),
          null,
          Runnable::run,
          DirectMemory.jvm());

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  @Test
  void endsTheConnectionThoughAllThatWasPostedHasSucceeded() throws Exception {
    try (RawPeer peer = RawPeer.listening()) {
      RdmaConnection client = connect(peer);
      CompletableFuture<Void> sent =
          client.send(Mono.fromSupplier(() -> Ends.message(client, 8, 1))).toFuture();
      // The peer has the message, but the loop has not polled its completion yet.
      steps.runLoop();
      assertThat(sent).isNotDone();

      assertThat(peer.write(1, 1)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      steps.takeEventsOfDevice();
      await()
          .pollInSameThread()
          .atMost(Ends.LIMIT)
          .until(
              () -> {
                steps.runLoop();
                return client.isDisposed() && sent.isDone();
              });

      if (Addresses.areEmulated()) {
        // On a real wire the acknowledgement of the message may come too late.
        assertThat(sent).isCompleted();
      }
    }
  }

  private RdmaConnection connect(RawPeer peer) throws Exception {
    FutureTask<Void> accepting =
        new FutureTask<>(
            () -> {
              peer.accept(RawPeer.handshake().encode());
              return null;
            });
    new Thread(accepting, "accepts").start();
    CompletableFuture<RdmaConnection> connect = transport.connect(peer.address()).toFuture();
    boolean both =
        steps.awaitFor(() -> connect.isDone() && accepting.isDone(), Ends.LIMIT.toNanos());
    assertThat(both).as("connected").isTrue();
    accepting.get();
    return connect.get();
  }

  /** Runs the agents of a device in the thread of the test; their clock stands still. */
  private static final class Steps implements DutyCycleInvoker {
    /** The index of the agent, in the order in which a device starts its agents. */
    private static final int EVENTS_OF_DEVICE = 1;

    private static final int LOOP = 2;

    private final List<DutyCycle> agents = new ArrayList<>();

    void takeEventsOfDevice() {
      // The kernel reports the bad request to the peer and the failure to this end in either order.
      await()
          .pollInSameThread()
          .atMost(Ends.LIMIT)
          .until(() -> agents.get(EVENTS_OF_DEVICE).doWork());
      while (agents.get(EVENTS_OF_DEVICE).doWork()) {
        // Several events may wait.
      }
    }

    void runLoop() {
      agents.get(LOOP).doWork();
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public void add(DutyCycle dutyCycle) {
      agents.add(dutyCycle);
    }

    @Override
    public boolean awaitFor(BooleanSupplier done, long nanos) {
      long start = System.nanoTime();
      while (!done.getAsBoolean() && System.nanoTime() - start < nanos) {
        for (DutyCycle agent : agents) {
          if (!agent.isOver()) {
            agent.doWork();
          }
        }
      }
      return done.getAsBoolean();
    }
  }
}
