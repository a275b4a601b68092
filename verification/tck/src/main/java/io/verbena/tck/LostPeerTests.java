// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionStatus.RETRY_EXC_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairState;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A peer that does not respond: requests fail after their retries and never hang. */
abstract class LostPeerTests extends VerbsTests {
  /** 4.096 us times 2 to the power of 10: 4.2 ms. */
  private static final int SHORT = 10;

  LostPeerTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void failsWhenThePeersQueuePairIsDestroyed() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).byHand();
    TestMemory remote = pair.server().open(8);
    pair.server().queuePair().close();

    pair.client().post(Requests.write(1, remote, pair.client().memory(8)).signaled());
    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
    pair.client().sent().expectError(2, WR_FLUSH_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    remote.assertUntouched();
  }

  @Test
  void failsWhenThePeersQueuePairIsDestroyedWhileAMessageWaits() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).byHand();
    pair.client().post(Requests.send(1).signaled());
    pair.client().sent().expectNothing();

    pair.server().queuePair().close();

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
  }

  @Test
  void failsWhenThePeersQueuePairIsInError() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).byHand();
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    pair.client().post(Requests.nothing(1).signaled());

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
  }

  @Test
  void failsWhenThePeersQueuePairIsReset() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).byHand();
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET));

    pair.client().post(Requests.nothing(1).signaled());

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
  }

  @Test
  void failsWhenThePeerIsNotYetReadyToReceive() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).byHandWithServerIn(QueuePairState.INIT);

    pair.client().post(Requests.nothing(1).signaled());

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
  }

  @Test
  void failsWhenNobodyHasTheNumber() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.INIT);
    int nobody = tck.setup().endpoint().queuePair().number() ^ 0x80_0000;
    end.queuePair()
        .modify(TransitionAttributes.toReadyToReceive(end.device(), end.device(), nobody, 1));
    end.queuePair()
        .modify(TransitionAttributes.toReadyToSend(end.device(), 1).timeout(SHORT).retryCount(1));

    end.post(Requests.nothing(1).signaled());

    end.sent().expectError(1, RETRY_EXC_ERR);
  }

  @Test
  void failsWhenThePeerWaitsForAnotherSequenceNumber() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).clientPsn(101, 100).byHand();
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(1, remote, pair.client().memory(8).fill(1)).signaled());

    pair.client().sent().expectError(1, RETRY_EXC_ERR);
    remote.assertUntouched();
  }

  @Test
  void worksOnceThePeerIsReadyInTime() {
    // Each of the seven retries comes after 1.07 s, so the peer is ready long before the last one,
    // even if this thread pauses.
    EndpointPair pair = tck.setup().timeout(18, 7).byHandWithServerIn(QueuePairState.INIT);

    pair.client().post(Requests.nothing(1).signaled());
    pair.client().sent().expectNothing();
    pair.server()
        .queuePair()
        .modify(
            TransitionAttributes.toReadyToReceive(
                pair.server().device(),
                pair.client().device(),
                pair.client().queuePair().number(),
                pair.client().queuePair().query().sendPsn()));

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void answersARequesterAlsoBeforeItMaySendItself() {
    EndpointPair pair = tck.setup().byHandWithServerIn(QueuePairState.RTR);
    TestMemory remote = pair.server().open(64);

    pair.client().post(Requests.write(1, remote, pair.client().memory(64).fill(1)).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
  }

  @Test
  void failsWhenBothEndsStop() {
    EndpointPair pair = tck.setup().timeout(SHORT, 1).access().byHand();
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.client().post(Requests.send(1));

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    // Either the retries are exhausted or the queue is flushed first.
    assertThat(pair.client().sent().next().status()).isIn(Set.of(RETRY_EXC_ERR, WR_FLUSH_ERR));
    pair.client().sent().expectNothing();
  }
}
