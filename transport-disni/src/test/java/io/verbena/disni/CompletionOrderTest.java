// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queue pairs that share a completion queue complete in the order of the script. */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script keeps back the completions of all devices")
final class CompletionOrderTest {
  private static final int RECEIVES = 4;

  private FakeConnection link;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @BeforeEach
  void connect() throws InterruptedException {
    link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false);
    FakeRdmaCore.script("defer");
  }

  @AfterEach
  void close() {
    FakeRdmaCore.script("clear");
    link.close();
  }

  /** The order of two sends of the client (c) and their receives at the server (s). */
  @ParameterizedTest
  @ValueSource(strings = {"ccss", "cscs", "cssc", "sccs", "scsc", "sscc"})
  void tellsCompletionsInWhateverOrderTwoQueuePairsHaveThem(String order) {
    int sent = 1;
    int received = 11;
    link.server.postReceive(new ReceiveWorkRequest().id(11).next(new ReceiveWorkRequest().id(12)));
    link.client.postSend(message(1).next(message(2)));
    assertThat(link.completions.poll(WorkCompletion.array(1))).isZero();

    for (int i = 0; i < order.length(); i++) {
      boolean ofClient = order.charAt(i) == 'c';
      QueuePair pair = ofClient ? link.client : link.server;
      FakeRdmaCore.script("complete " + pair.number() + " 1");

      WorkCompletion completion = link.complete();
      assertThat(completion.queuePairNumber()).isEqualTo(pair.number());
      assertThat(completion.workRequestId()).isEqualTo(ofClient ? sent++ : received++);
    }
  }

  @Test
  void takesReceivesOfASharedQueueFromTheLaterQueuePairFirst() {
    try (SharedReceiveQueue shared = link.domain.createSharedReceiveQueue(RECEIVES, 1);
        QueuePair first = connectedToItself(shared);
        QueuePair second = connectedToItself(shared)) {
      post(shared, 21, RECEIVES);
      first.postSend(message(1));
      second.postSend(message(2));

      FakeRdmaCore.script("complete " + second.number());
      assertThat(received(2)).containsExactly(22L);
      FakeRdmaCore.script("complete " + first.number());
      assertThat(received(2)).containsExactly(21L);

      post(shared, 31, 2);
    }
  }

  @Test
  void getsBackAReceiveWhoseCompletionNeverCame() {
    try (SharedReceiveQueue shared = link.domain.createSharedReceiveQueue(RECEIVES, 1);
        QueuePair stays = connectedToItself(shared)) {
      post(shared, 21, shared.maxWorkRequests());
      QueuePair closed = connectedToItself(shared);
      closed.postSend(message(1));
      stays.postSend(message(2));

      closed.close();
      FakeRdmaCore.script("complete " + stays.number());
      assertThat(received(2)).containsExactly(22L);

      post(shared, 31, 2);
    }
  }

  private static SendWorkRequest message(long id) {
    return new SendWorkRequest().id(id).send().signaled();
  }

  private static void post(SharedReceiveQueue to, long firstId, int count) {
    for (int i = 0; i < count; i++) {
      to.postReceive(new ReceiveWorkRequest().id(firstId + i));
    }
  }

  /** Takes this many completions and returns the ids of the receives among them. */
  private List<Long> received(int completions) {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < completions; i++) {
      WorkCompletion completion = link.complete();
      assertThat(completion.isSuccess()).as("%s", completion).isTrue();
      if (completion.opcode() == CompletionOpcode.RECV) {
        ids.add(completion.workRequestId());
      }
    }
    return ids;
  }

  private QueuePair connectedToItself(SharedReceiveQueue shared) {
    QueuePair pair =
        link.domain.createQueuePair(
            QueuePairOptions.reliable(link.completions, link.completions, 1, 1)
                .withSharedReceiveQueue(shared));
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).access(Set.of()));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(link.device.port().gids().get(0)))
            .pathMtu(link.device.port().activeMtu())
            .destinationQueuePair(pair.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .sendPsn(1)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(7)
            .maxReadAtomic(1));
    return pair;
  }
}
