// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.ConnectionEvent.Type.DISCONNECTED;

import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.QueuePairState;
import org.junit.jupiter.api.Test;

/** Disconnecting from either side, gracefully or not. */
abstract class DisconnectionTests extends VerbsTests {
  DisconnectionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void tellsBothEndsOnceWhenTheCallerDisconnects() {
    ConnectionIdentifiers link = tck.connected().requiredIdentifiers();

    link.active().disconnect();

    tellsBothEndsOnce(link);
  }

  @Test
  void tellsBothEndsOnceWhenTheCalleeDisconnects() {
    ConnectionIdentifiers link = tck.connected().requiredIdentifiers();

    link.passive().disconnect();

    tellsBothEndsOnce(link);
  }

  @Test
  void tellsBothEndsOnceWhenBothDisconnect() throws InterruptedException {
    ConnectionIdentifiers link = tck.connected().requiredIdentifiers();

    new Parallel()
        .thread(link.active()::disconnect)
        .thread(link.passive()::disconnect)
        .run(tck.timeout());

    tellsBothEndsOnce(link);
  }

  @Test
  void tellsBothEndsOnceWhenEachDisconnectsAfterTheOther() {
    ConnectionIdentifiers link = tck.connected().requiredIdentifiers();

    link.active().disconnect();
    link.callee().expect(DISCONNECTED, link.passive());
    link.passive().disconnect();
    link.active().disconnect();

    link.caller().expect(DISCONNECTED, link.active());
    link.caller().expectNothingMore();
    link.callee().expectNothingMore();
  }

  @Test
  void flushesWhatIsPendingAtBothEnds() {
    EndpointPair pair = tck.connected();
    ConnectionIdentifiers link = pair.requiredIdentifiers();
    pair.client().post(Requests.send(1));
    pair.server().post(Requests.send(2));

    link.passive().disconnect();
    link.caller().expect(DISCONNECTED, link.active());

    pair.client().sent().expectError(1, WR_FLUSH_ERR);
    pair.server().sent().expectError(2, WR_FLUSH_ERR);
    pair.client().post(Requests.receive(3));
    pair.client().received().expectError(3, WR_FLUSH_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  @Test
  void flushesTheReceivesOfBothEnds() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.receive(1));
    pair.server().post(Requests.receive(2));

    ConnectionIdentifiers link = pair.requiredIdentifiers();
    link.active().disconnect();
    link.callee().expect(DISCONNECTED, link.passive());

    pair.client().received().expectError(1, WR_FLUSH_ERR);
    pair.server().received().expectError(2, WR_FLUSH_ERR);
  }

  @Test
  void tellsThePeerOfAnEndThatIsClosed() {
    EndpointPair pair = tck.connected();
    ConnectionIdentifiers link = pair.requiredIdentifiers();

    pair.client().queuePair().close();
    link.active().close();

    link.callee().expect(DISCONNECTED, link.passive());
    link.callee().expectNothingMore();
    link.caller().expectNothingMore();
    pair.server().awaitState(QueuePairState.ERR);
  }

  @Test
  void endsOneConnectionOnly() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.connected();

    pair.requiredIdentifiers().active().disconnect();
    pair.client().awaitState(QueuePairState.ERR);

    other.client().post(Requests.nothing(1).signaled());
    other.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void mayBeClosedTwice() {
    EndpointPair pair = tck.connected();
    ConnectionIdentifier active = pair.requiredIdentifiers().active();
    pair.client().queuePair().close();

    active.close();
    active.close();
  }

  @Test
  void mayBeClosedAfterThePeerIsGone() {
    EndpointPair pair = tck.connected();
    ConnectionIdentifiers link = pair.requiredIdentifiers();
    pair.client().queuePair().close();
    link.active().close();

    pair.server().queuePair().close();
    link.passive().close();

    link.caller().expectNothingMore();
  }

  private static void tellsBothEndsOnce(ConnectionIdentifiers link) {
    link.caller().expect(DISCONNECTED, link.active());
    link.callee().expect(DISCONNECTED, link.passive());
    link.caller().expectNothingMore();
    link.callee().expectNothingMore();
  }
}
