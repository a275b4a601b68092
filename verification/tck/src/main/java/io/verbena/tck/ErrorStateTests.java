// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The error state: all pending requests and all that are posted later are flushed, each once. */
abstract class ErrorStateTests extends VerbsTests {
  ErrorStateTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void flushesTheSendsThatArePending() {
    EndpointPair pair = tck.connected();
    for (int id = 1; id <= 5; id++) {
      pair.client().post(Requests.send(id).signaled());
    }

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    for (int id = 1; id <= 5; id++) {
      pair.client().sent().expectError(id, WR_FLUSH_ERR);
    }
  }

  @Test
  void flushesTheReceivesThatArePending() {
    EndpointPair pair = tck.connected();
    for (int id = 1; id <= 5; id++) {
      pair.server().post(Requests.receive(id));
    }

    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    for (int id = 1; id <= 5; id++) {
      pair.server().received().expectError(id, WR_FLUSH_ERR);
    }
  }

  @Test
  void flushesReceivesOfAQueuePairThatWasNeverConnected() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.INIT);
    end.post(Requests.receive(1));

    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    end.received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void flushesUnsignaledSendsToo() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.send(1));
    pair.client().post(Requests.send(2));

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    pair.client().sent().expectError(1, WR_FLUSH_ERR);
    pair.client().sent().expectError(2, WR_FLUSH_ERR);
  }

  @Test
  void completesWhatWasDoneBeforeAsDone() {
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.nothing(1).signaled());
    pair.client().post(Requests.send(2).signaled());
    pair.client().post(Requests.send(3).signaled());
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    pair.client().sent().expectSuccess(2, SEND);

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    pair.client().sent().expectError(3, WR_FLUSH_ERR);
  }

  @Test
  void keepsCompletionsThatWereNotPolledYet() throws InterruptedException {
    Endpoint client = tck.setup().channel().connected().client();
    client.sent().queue().arm(false);
    client.post(Requests.nothing(1).signaled());
    CompletionQueue told = client.events().await(tck.timeout().toNanos());
    Objects.requireNonNull(told, "completion event").acknowledgeEvents(1);
    client.post(Requests.send(2));

    client.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    client.sent().expectSuccess(1, RDMA_WRITE);
    client.sent().expectError(2, WR_FLUSH_ERR);
  }

  @Test
  void flushesEachRequestOnce() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.send(1).signaled());
    pair.client().post(Requests.receive(2));

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    pair.client().post(Requests.send(3).signaled());
    pair.client().post(Requests.receive(4));

    pair.client().sent().expectError(1, WR_FLUSH_ERR);
    pair.client().sent().expectError(3, WR_FLUSH_ERR);
    pair.client().received().expectError(2, WR_FLUSH_ERR);
    pair.client().received().expectError(4, WR_FLUSH_ERR);
    pair.client().sent().expectNothing();
    pair.client().received().expectNothing();
  }

  @Test
  void flushesEachRequestOfAChainThatIsPostedInError() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.ERR);

    end.post(Requests.linked(Requests.nothing(1), Requests.nothing(2), Requests.nothing(3)));
    end.post(Requests.linked(Requests.receive(4), Requests.receive(5)));

    for (int id = 1; id <= 3; id++) {
      end.sent().expectError(id, WR_FLUSH_ERR);
    }
    end.received().expectError(4, WR_FLUSH_ERR);
    end.received().expectError(5, WR_FLUSH_ERR);
  }

  @Test
  void givesItsSlotsBackWhenTheFlushedRequestsWerePolled() {
    Endpoint end = tck.setup().sends(4).receives(4).endpointIn(QueuePairState.ERR);
    int sends = end.queuePair().capabilities().maxSend();
    int receives = end.queuePair().capabilities().maxReceive();

    for (int round = 0; round < 3; round++) {
      for (int id = 0; id < sends; id++) {
        end.post(Requests.nothing(id));
      }
      for (int id = 0; id < receives; id++) {
        end.post(Requests.receive(id));
      }
      for (int id = 0; id < sends; id++) {
        end.sent().expectError(id, WR_FLUSH_ERR);
      }
      for (int id = 0; id < receives; id++) {
        end.received().expectError(id, WR_FLUSH_ERR);
      }
    }
  }

  @Test
  void isEnteredByARequestThatFailsWhichFlushesWhatIsBehindIt() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory from = pair.client().memory(16);
    SendWorkRequest chain =
        Requests.linked(
            Requests.nothing(1).signaled(),
            Requests.write(2, remote, from).signaled(),
            Requests.nothing(3).signaled(),
            Requests.nothing(4));

    pair.client().post(chain);

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    pair.client().sent().expectError(2, REM_ACCESS_ERR);
    pair.client().sent().expectError(3, WR_FLUSH_ERR);
    pair.client().sent().expectError(4, WR_FLUSH_ERR);
    pair.client().awaitState(QueuePairState.ERR);
  }

  @Test
  void flushesTheReceivesWhenASendFails() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.receive(1));
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(2, remote, pair.client().memory(16)));

    pair.client().sent().expectError(2, REM_ACCESS_ERR);
    pair.client().received().expectError(1, WR_FLUSH_ERR);
  }

  @Test
  void isEnteredByTheResponderThatRefusesToo() {
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));
    pair.server().post(Requests.receive(2));
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(3, remote, pair.client().memory(16)));

    pair.client().sent().expectError(3, REM_ACCESS_ERR);
    pair.server().awaitState(QueuePairState.ERR);
    pair.server().received().expectError(1, WR_FLUSH_ERR);
    pair.server().received().expectError(2, WR_FLUSH_ERR);
  }

  @Test
  void namesTheQueuePairOfWhatFailed() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.send(1));

    pair.client().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    WorkCompletion flushed = pair.client().sent().expectError(1, WR_FLUSH_ERR);
    assertThat(flushed.queuePairNumber()).isEqualTo(pair.client().queuePair().number());
    assertThat(flushed.isSuccess()).isFalse();
  }

  @Test
  void isLeftThroughResetWithNothingLeftOver() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.ERR);
    end.post(Requests.nothing(1));
    end.sent().expectError(1, WR_FLUSH_ERR);

    end.queuePair().modify(TransitionAttributes.toState(QueuePairState.RESET));
    end.queuePair().modify(TransitionAttributes.toInit(end.device(), tck.remoteAccess()));
    end.queuePair()
        .modify(
            TransitionAttributes.toReadyToReceive(
                end.device(), end.device(), end.queuePair().number(), 7));
    end.queuePair().modify(TransitionAttributes.toReadyToSend(end.device(), 7));
    end.post(Requests.nothing(2).signaled());

    end.sent().expectSuccess(2, RDMA_WRITE);
  }
}
