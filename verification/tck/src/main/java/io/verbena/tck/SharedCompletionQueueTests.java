// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.SUCCESS;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * One completion queue for several queue pairs, thread-safe or for a single thread. In both cases
 * each completion arrives once, in the order of its queue, and names its queue pair.
 */
abstract class SharedCompletionQueueTests extends VerbsTests {
  SharedCompletionQueueTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void tellsQueuePairsApart() {
    for (boolean singleThreaded : new boolean[] {false, true}) {
      Shared shared = new Shared(16, singleThreaded);
      QueuePair one = shared.inState(QueuePairState.INIT);
      QueuePair two = shared.inState(QueuePairState.INIT);
      one.postReceive(Requests.receive(7));
      one.postReceive(Requests.receive(7));
      two.postReceive(Requests.receive(7));

      two.modify(TransitionAttributes.toState(QueuePairState.ERR));
      int first = shared.completions.expectError(7, WR_FLUSH_ERR).queuePairNumber();
      one.modify(TransitionAttributes.toState(QueuePairState.ERR));
      int second = shared.completions.expectError(7, WR_FLUSH_ERR).queuePairNumber();
      int third = shared.completions.expectError(7, WR_FLUSH_ERR).queuePairNumber();

      assertThat(List.of(first, second, third))
          .containsExactly(two.number(), one.number(), one.number());
    }
  }

  @Test
  void servesOneThreadThatPromisedToPollAlone() {
    EndpointPair pair = tck.setup().singleThreaded().connected();
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.send(2).signaled());
    pair.client().post(Requests.nothing(3).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.client().sent().expectSuccess(3, RDMA_WRITE);
    pair.server().received().expectSuccess(1, RECV);
  }

  @Test
  void servesManyQueuePairsThatPostAtOnce() throws InterruptedException {
    for (boolean singleThreaded : new boolean[] {false, true}) {
      int queuePairs = 4;
      int each = tck.iterations(3000);
      Shared shared = new Shared(queuePairs * 64, singleThreaded);
      Map<Integer, Integer> next = new HashMap<>();
      Parallel parallel = new Parallel();
      for (int i = 0; i < queuePairs; i++) {
        QueuePair queuePair = shared.inState(QueuePairState.RTS);
        next.put(queuePair.number(), 0);
        parallel.thread(() -> postAll(queuePair, each));
      }
      parallel.thread(() -> takeAll(shared.completions, queuePairs * each, next));

      parallel.run(tck.timeout().multipliedBy(2));

      assertThat(next.values()).containsOnly(each);
      shared.completions.expectNothing();
    }
  }

  @Test
  void losesNothingWhenAnotherQueuePairJoinsWhileOnePosts() throws InterruptedException {
    for (boolean singleThreaded : new boolean[] {false, true}) {
      for (int round = 0; round < tck.iterations(30); round++) {
        Shared shared = new Shared(256, singleThreaded);
        QueuePair first = shared.inState(QueuePairState.RTS);
        Map<Integer, Integer> next = new HashMap<>();
        int each = 200;

        new Parallel()
            .thread(() -> postAll(first, each))
            .thread(() -> postAll(shared.inState(QueuePairState.RTS), each))
            .thread(() -> takeAll(shared.completions, 2 * each, next))
            .run(tck.timeout());

        assertThat(next).hasSize(2).containsValue(each);
        assertThat(Set.copyOf(next.values())).containsExactly(each);
        shared.completions.expectNothing();
      }
    }
  }

  @Test
  void losesNothingWhenSendsAndReceivesCompleteAtOnce() throws InterruptedException {
    int messages = tck.iterations(5000);
    EndpointPair pair = tck.setup().oneQueue().singleThreaded().sends(64).receives(64).connected();
    Endpoint server = pair.server();
    for (int id = 0; id < 32; id++) {
      server.post(Requests.receive(id));
    }

    new Parallel()
        .thread(
            () -> {
              for (int id = 0; id < messages; id++) {
                pair.client().post(Requests.send(id).signaled());
                pair.client().sent().expectSuccess(id, SEND);
              }
            })
        .thread(() -> postAll(server.queuePair(), messages))
        .thread(
            () -> {
              int received = 0;
              int sent = 0;
              while (received < messages || sent < messages) {
                WorkCompletion completion = server.received().next();
                assertThat(completion.status()).as("%s", completion).isEqualTo(SUCCESS);
                if (completion.opcode() == RECV) {
                  assertThat(completion.workRequestId()).isEqualTo(received++);
                  server.post(Requests.receive(received + 31));
                } else {
                  assertThat(completion.workRequestId()).isEqualTo(sent++);
                }
              }
            })
        .run(tck.timeout().multipliedBy(2));
  }

  /** Posts requests, and waits for free slots while another thread polls completions. */
  private void postAll(QueuePair queuePair, int count) {
    Deadline deadline = Deadline.in(tck.timeout());
    for (int id = 0; id < count && !deadline.isOver(); ) {
      try {
        queuePair.postSend(Requests.nothing(id).signaled());
        deadline.progressed();
        id++;
      } catch (PostException full) {
        assertThat(full.error()).isEqualTo(NO_MEMORY);
        deadline.pause();
      }
    }
  }

  /** Polls completions, which must be in order for each queue pair. */
  private static void takeAll(CompletionPoller completions, int count, Map<Integer, Integer> next) {
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = completions.next();
      assertThat(completion.status()).as("%s", completion).isEqualTo(SUCCESS);
      int expected = next.getOrDefault(completion.queuePairNumber(), 0);
      assertThat(completion.workRequestId()).as("%s", completion).isEqualTo(expected);
      next.put(completion.queuePairNumber(), expected + 1);
    }
  }

  /** A completion queue and queue pairs on it, each connected to itself. */
  private final class Shared {
    final CompletionPoller completions;
    private final ProtectionDomain domain = tck.domain();
    private final QueuePairOptions options;

    Shared(int depth, boolean singleThreaded) {
      CompletionQueue queue =
          tck.own(tck.device().createCompletionQueue(depth, null, singleThreaded));
      completions = new CompletionPoller(queue, "shared completion queue", tck);
      options = QueuePairOptions.reliable(queue, queue, 16, 16);
    }

    QueuePair inState(QueuePairState state) {
      QueuePair queuePair = tck.own(domain.createQueuePair(options));
      queuePair.modify(TransitionAttributes.toInit(tck.device(), tck.remoteAccess()));
      if (state == QueuePairState.RTS) {
        queuePair.modify(
            TransitionAttributes.toReadyToReceive(
                tck.device(), tck.device(), queuePair.number(), 1));
        queuePair.modify(TransitionAttributes.toReadyToSend(tck.device(), 1));
      }
      return queuePair;
    }
  }
}
