// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.AsyncEvent.Type.COMM_EST;
import static io.verbena.verbs.AsyncEvent.Type.CQ_ERR;
import static io.verbena.verbs.AsyncEvent.Type.QP_ACCESS_ERR;
import static io.verbena.verbs.AsyncEvent.Type.QP_FATAL;
import static io.verbena.verbs.AsyncEvent.Type.QP_REQ_ERR;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

/**
 * Asynchronous events and their sources. The tests of shared receive queues and of the drained
 * state cover the events of those.
 */
abstract class AsyncEventTests extends VerbsTests {
  AsyncEventTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void tellsOfTheFirstMessageThatArrivesBeforeTheQueuePairMaySend() {
    EndpointPair pair = tck.setup().byHandWithServerIn(QueuePairState.RTR);
    pair.server().post(Requests.receive(1));
    pair.server().post(Requests.receive(2));

    pair.client().post(Requests.send(3).signaled());
    pair.client().sent().expectSuccess(3, SEND);

    tck.expectEvent(pair.server().device(), COMM_EST, pair.server().queuePair());
    pair.client().post(Requests.send(4).signaled());
    pair.client().sent().expectSuccess(4, SEND);
    tck.expectNoEvent(pair.server().device());
  }

  @Test
  void tellsOfTheFirstMessageOfAnUnreliableConnectionToo() {
    if (isRefused(QueuePairType.UC)) {
      return;
    }
    EndpointPair pair = tck.setup().type(QueuePairType.UC).byHandWithServerIn(QueuePairState.RTR);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.send(3).signaled());

    tck.expectEvent(pair.server().device(), COMM_EST, pair.server().queuePair());
  }

  @Test
  void saysNothingOfMessagesOnceTheQueuePairMaySend() {
    EndpointPair pair = tck.setup().byHand();
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.send(3).signaled());
    pair.client().sent().expectSuccess(3, SEND);

    tck.expectNoEvent(pair.server().device());
    tck.expectNoEvent(pair.client().device());
  }

  @Test
  void tellsTheResponderOfARequestThatItsQueuePairDoesNotAllow() {
    EndpointPair pair = tck.setup().access().byHand();
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(1, remote, pair.client().memory(8)).signaled());

    pair.client().sent().expectError(1, REM_INV_REQ_ERR);
    tck.expectEvent(pair.server().device(), QP_REQ_ERR, pair.server().queuePair());
    tck.expectNoEvent(pair.client().device());
  }

  @Test
  void tellsTheResponderOfARequestThatItsMemoryDoesNotAllow() {
    EndpointPair pair = tck.setup().byHand();
    TestMemory remote = pair.server().open(8);
    TestMemory from = pair.client().memory(8);
    SendWorkRequest wrong = new SendWorkRequest().id(1).write(remote.address(), remote.rkey() ^ 1);

    pair.client().post(wrong.buffer(from.address(), 8, from.lkey()).signaled());

    pair.client().sent().expectError(1, REM_ACCESS_ERR);
    tck.expectEvent(pair.server().device(), QP_ACCESS_ERR, pair.server().queuePair());
    tck.expectNoEvent(pair.client().device());
  }

  @Test
  void tellsTheResponderNothingWhenItsReceiveCompletesWithTheError() {
    EndpointPair pair = tck.setup().byHand();
    pair.server().post(Requests.receive(1, pair.server().memory(8, LOCAL_WRITE)));

    pair.client().post(Requests.send(2, pair.client().memory(16)).signaled());

    pair.client().sent().next();
    pair.server().received().next();
    tck.expectNoEvent(pair.server().device());
  }

  @Test
  void tellsOfTheQueueThatOverranAndThenOfTheQueuePairThatItStopped() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(1, null));
    CompletionQueue other = tck.own(tck.device().createCompletionQueue(1, null));
    int most = queue.depth() + 1;
    ProtectionDomain domain = tck.domain();
    QueuePair queuePair =
        tck.own(domain.createQueuePair(QueuePairOptions.reliable(queue, other, most, 1)));
    queuePair.modify(TransitionAttributes.toInit(tck.device(), tck.remoteAccess()));
    queuePair.modify(
        TransitionAttributes.toReadyToReceive(tck.device(), tck.device(), queuePair.number(), 1));
    queuePair.modify(TransitionAttributes.toReadyToSend(tck.device(), 1));

    for (int id = 0; id < most; id++) {
      queuePair.postSend(Requests.nothing(id).signaled());
    }

    tck.expectEvent(tck.device(), CQ_ERR, queue);
    tck.expectEvent(tck.device(), QP_FATAL, queuePair);
    assertThat(queuePair.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void saysNothingOfAnErrorThatACompletionTells() {
    EndpointPair pair = tck.setup().byHand();

    pair.client().failOneOfItsSends();
    pair.client().awaitState(QueuePairState.ERR);

    tck.expectNoEvent(pair.client().device());
  }

  @Test
  void saysNothingOfAStateThatTheProgramAskedFor() {
    EndpointPair pair = tck.setup().byHand();
    pair.client().post(Requests.nothing(1).signaled());
    pair.client().sent().expectSuccess(1, RDMA_WRITE);

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.server().queuePair().close();

    tck.expectNoEvent(pair.client().device());
    tck.expectNoEvent(pair.server().device());
  }
}
