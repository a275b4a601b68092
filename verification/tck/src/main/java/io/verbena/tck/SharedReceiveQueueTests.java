// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.AsyncEvent.Type.QP_LAST_WQE_REACHED;
import static io.verbena.verbs.AsyncEvent.Type.SRQ_LIMIT_REACHED;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.RECV_RDMA_WITH_IMM;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared receive queues, which provide receives to several queue pairs. */
abstract class SharedReceiveQueueTests extends VerbsTests {

  @RegisterExtension
  final RequiresSupport sharedReceiveQueues =
      RequiresSupport.of(this, Capability.SHARED_RECEIVE_QUEUE, this::assertRefused);

  SharedReceiveQueueTests(VerbsTck provider) {
    super(provider);
  }

  private void assertRefused() {
    expectFailure(NOT_SUPPORTED, () -> tck.domain().createSharedReceiveQueue(1, 1));
  }

  /** A shared queue on the server's device, and memory for its receives. */
  private final class SharedQueue {
    final ProtectionDomain domain = tck.own(tck.serverDevice().allocateProtectionDomain());
    final SharedReceiveQueue queue;
    final TestMemory memory = tck.memory(domain, 4096, Set.of(LOCAL_WRITE));

    SharedQueue(int receives) {
      queue = tck.own(domain.createSharedReceiveQueue(receives, 1));
    }

    EndpointSetup setup() {
      return tck.setup().serverDomain(domain).serverShared(queue);
    }

    /** Creates two endpoints; the server uses the shared receive queue. */
    EndpointPair pair() {
      return setup().byHand();
    }

    /** Posts a receive of 8 bytes, at 8 times its id. */
    void post(int id) {
      queue.postReceive(Requests.receive(id, at(id)));
    }

    TestMemory at(int id) {
      return memory.part(id * 8, 8);
    }
  }

  @Test
  void servesSeveralQueuePairsInTheOrderOfItsReceives() {
    SharedQueue shared = new SharedQueue(16);
    List<EndpointPair> pairs = List.of(shared.pair(), shared.pair(), shared.pair());
    for (int id = 0; id < 9; id++) {
      shared.post(id);
    }

    for (int id = 0; id < 9; id++) {
      EndpointPair pair = pairs.get(id % 3);
      send(pair, 100 + id);
      WorkCompletion received = pair.server().received().expectSuccess(id, RECV);
      assertThat(received.queuePairNumber()).isEqualTo(pair.server().queuePair().number());
      assertThat(shared.at(id).getLong(0)).isEqualTo(100 + id);
    }
  }

  @Test
  void isNoFigureOfAQueuePairButWhatItGaveIt() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();
    shared.post(0);
    shared.post(1);
    receiveOne(pair, 0);

    Map<Figure, Long> figures = pair.server().queuePair().reading().figures();

    assertThat(figures).doesNotContainKeys(Figure.RECEIVES_POSTED, Figure.RECEIVE_QUEUE_SIZE);
    assertThat(figures.getOrDefault(Figure.RECEIVES_DONE, 1L)).isEqualTo(1);
  }

  @Test
  void raisesOneEventWhenOfTenPostedWithLimitSevenFourAreTaken() {
    SharedQueue shared = new SharedQueue(16);
    EndpointPair one = shared.pair();
    EndpointPair two = shared.pair();
    for (int id = 0; id < 10; id++) {
      shared.post(id);
    }
    shared.queue.limit(7);
    assertThat(shared.queue.limit()).isEqualTo(7);

    for (int id = 0; id < 3; id++) {
      receiveOne(id % 2 == 0 ? one : two, id);
    }
    tck.expectNoEvent(tck.serverDevice());
    receiveOne(two, 3);

    tck.expectEvent(tck.serverDevice(), SRQ_LIMIT_REACHED, shared.queue);
    assertThat(shared.queue.limit()).isZero();
    receiveOne(one, 4);
    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void raisesAnotherEventWhenItsLimitIsSetAgain() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();
    for (int round = 0; round < 3; round++) {
      shared.post(2 * round);
      shared.post(2 * round + 1);
      shared.queue.limit(1);
      receiveOne(pair, 2 * round);
      tck.expectNoEvent(tck.serverDevice());

      receiveOne(pair, 2 * round + 1);

      tck.expectEvent(tck.serverDevice(), SRQ_LIMIT_REACHED, shared.queue);
    }
  }

  @Test
  void raisesNoEventWithoutALimit() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();
    shared.post(0);
    shared.queue.limit(1);
    shared.queue.limit(0);

    receiveOne(pair, 0);

    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void refusesALimitThatItCannotHold() {
    SharedQueue shared = new SharedQueue(4);

    expectFailure(INVALID, () -> shared.queue.limit(-1));
    expectFailure(INVALID, () -> shared.queue.limit(shared.queue.maxWorkRequests() + 1));

    assertThat(shared.queue.limit()).isZero();
  }

  @Test
  void grantsWhatItWasAskedFor() {
    SharedReceiveQueue queue = tck.own(tck.domain().createSharedReceiveQueue(5, 3));

    assertThat(queue.maxWorkRequests()).isGreaterThanOrEqualTo(5);
    assertThat(queue.maxScatterGather()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void refusesSizesThatAreOutOfRange() {
    ProtectionDomain domain = tck.domain();
    int receives = tck.attributes().maxSharedReceiveRequests();
    int entries = tck.attributes().maxScatterGather();

    expectFailure(INVALID, "0 receives", () -> domain.createSharedReceiveQueue(0, 1));
    expectFailure(INVALID, "-1 receives", () -> domain.createSharedReceiveQueue(-1, 1));
    expectFailure(INVALID, "too many", () -> domain.createSharedReceiveQueue(receives + 1, 1));
    expectFailure(INVALID, "entries", () -> domain.createSharedReceiveQueue(1, entries + 1));
  }

  @Test
  void refusesReceivesOfAQueuePairThatUsesIt() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();

    expectBadPost(INVALID, 7, () -> pair.server().post(Requests.receive(7)));

    assertThat(pair.server().queuePair().sharedReceiveQueue()).isSameAs(shared.queue);
  }

  @Test
  void refusesMoreBuffersThanItTakes() {
    SharedQueue shared = new SharedQueue(4);
    TestMemory[] pieces = new TestMemory[shared.queue.maxScatterGather() + 1];
    Arrays.fill(pieces, shared.at(0));

    expectBadPost(INVALID, 7, () -> shared.queue.postReceive(Requests.receive(7, pieces)));
  }

  @Test
  void isFullWhenAllThatItHoldsIsPosted() {
    SharedQueue shared = new SharedQueue(4);
    int most = shared.queue.maxWorkRequests();
    for (int id = 0; id < most; id++) {
      shared.queue.postReceive(Requests.receive(id));
    }

    expectBadPost(NO_MEMORY, 99, () -> shared.queue.postReceive(Requests.receive(99)));
  }

  @Test
  void namesTheFirstOfLinkedReceivesThatDoesNotFit() {
    SharedQueue shared = new SharedQueue(2);
    EndpointPair pair = shared.pair();
    int most = shared.queue.maxWorkRequests();
    for (int id = 2; id < most; id++) {
      shared.queue.postReceive(Requests.receive(1000 + id));
    }

    expectBadPost(
        NO_MEMORY,
        3,
        () ->
            shared.queue.postReceive(
                Requests.linked(Requests.receive(1), Requests.receive(2), Requests.receive(3))));

    for (int id = 2; id < most; id++) {
      pair.client().post(Requests.send(5));
      pair.server().received().expectSuccess(1000 + id, RECV);
    }
    pair.client().post(Requests.send(6));
    pair.client().post(Requests.send(7).signaled());
    pair.server().received().expectSuccess(1, RECV);
    pair.server().received().expectSuccess(2, RECV);
  }

  @Test
  void holdsASlotUntilItsCompletionIsPolled() {
    SharedQueue shared = new SharedQueue(2);
    EndpointPair one = shared.pair();
    EndpointPair two = shared.pair();
    int most = shared.queue.maxWorkRequests();
    for (int id = 0; id < most; id++) {
      shared.queue.postReceive(Requests.receive(id));
    }
    one.client().post(Requests.send(1).signaled());
    one.client().sent().expectSuccess(1, SEND);
    two.client().post(Requests.send(2).signaled());
    two.client().sent().expectSuccess(2, SEND);
    expectBadPost(NO_MEMORY, 99, () -> shared.queue.postReceive(Requests.receive(99)));

    two.server().received().expectSuccess(1, RECV);
    shared.queue.postReceive(Requests.receive(50));
    expectBadPost(NO_MEMORY, 99, () -> shared.queue.postReceive(Requests.receive(99)));
    one.server().received().expectSuccess(0, RECV);
    shared.queue.postReceive(Requests.receive(51));

    expectBadPost(NO_MEMORY, 99, () -> shared.queue.postReceive(Requests.receive(99)));
  }

  @Test
  void getsBackTheSlotsOfAQueuePairThatIsGone() {
    SharedQueue shared = new SharedQueue(2);
    int most = shared.queue.maxWorkRequests();
    for (int round = 0; round < 3; round++) {
      EndpointPair pair = shared.pair();
      for (int id = 0; id < most; id++) {
        shared.queue.postReceive(Requests.receive(id));
      }
      for (int id = 0; id < most; id++) {
        pair.client().post(Requests.send(id).signaled());
        pair.client().sent().expectSuccess(id, SEND);
      }

      pair.server().queuePair().close();
    }
  }

  @Test
  void makesASenderWaitUntilAReceiveIsPosted() {
    SharedQueue shared = new SharedQueue(4);
    List<EndpointPair> pairs = List.of(shared.pair(), shared.pair());
    for (EndpointPair pair : pairs) {
      pair.client().post(Requests.send(1, pair.client().memory(8).putLong(0, 77)).signaled());
      pair.client().sent().expectNothing();
    }

    shared.post(0);
    shared.post(1);

    for (EndpointPair pair : pairs) {
      pair.client().sent().expectSuccess(1, SEND);
      pair.server().received().next();
    }
    assertThat(shared.at(0).getLong(0)).isEqualTo(77);
    assertThat(shared.at(1).getLong(0)).isEqualTo(77);
  }

  @Test
  void givesAReceiveToAWriteWithImmediate() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();
    TestMemory remote = pair.server().open(8);
    shared.post(0);

    pair.client().post(Requests.writeWithImmediate(1, 5, remote, pair.client().memory(8).fill(1)));

    assertThat(pair.server().received().expectSuccess(0, RECV_RDMA_WITH_IMM).immediate())
        .isEqualTo(5);
    remote.assertHolds(1);
    assertThat(shared.at(0).getLong(0)).isZero();
  }

  @Test
  void servesUnreliableConnections() {
    if (isRefused(QueuePairType.UC)) {
      return;
    }
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.setup().type(QueuePairType.UC).byHand();
    shared.post(3);

    send(pair, 2);

    pair.server().received().expectSuccess(3, RECV);
    assertThat(shared.at(3).getLong(0)).isEqualTo(2);
  }

  @Test
  void servesDatagrams() {
    if (isRefused(QueuePairType.UD)) {
      return;
    }
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.setup().type(QueuePairType.UD).byHand();
    shared.queue.postReceive(Requests.receive(1, shared.memory.part(0, 48)));

    pair.client()
        .post(
            Requests.send(2, pair.client().memory(8).putLong(0, 9))
                .to(
                    pair.client().handleTo(pair.server()),
                    pair.server().queuePair().number(),
                    TransitionAttributes.QUEUE_KEY)
                .signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(48);
    assertThat(shared.memory.getLong(40)).isEqualTo(9);
  }

  @Test
  void refusesAMessageThatIsLargerThanTheReceiveThatItGot() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair one = shared.pair();
    EndpointPair two = shared.pair();
    shared.post(0);
    shared.post(1);

    one.client().post(Requests.send(2, one.client().memory(16)));

    one.client().sent().expectError(2, REM_INV_REQ_ERR);
    one.server().received().expectError(0, LOC_LEN_ERR);
    receiveOne(two, 1);
  }

  @Test
  void keepsItsReceivesWhenAQueuePairFails() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair one = shared.pair();
    EndpointPair two = shared.pair();
    shared.post(0);
    shared.post(1);

    one.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    one.server().awaitState(QueuePairState.ERR);
    one.server().received().expectNothing();
    receiveOne(two, 0);
    receiveOne(two, 1);
  }

  @Test
  void tellsThatAQueuePairInErrorTakesNoMoreReceives() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair pair = shared.pair();

    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    tck.expectEvent(tck.serverDevice(), QP_LAST_WQE_REACHED, pair.server().queuePair());
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void cannotBeClosedWhileAQueuePairUsesIt() {
    SharedQueue shared = new SharedQueue(4);
    EndpointPair one = shared.pair();
    EndpointPair two = shared.pair();

    expectFailure(BUSY, shared.queue::close);
    one.server().queuePair().close();
    expectFailure(BUSY, shared.queue::close);
    shared.post(0);
    receiveOne(two, 0);
    two.server().queuePair().close();

    shared.queue.close();
    shared.queue.close();
  }

  @Test
  void keepsItsDomainOpen() {
    ProtectionDomain domain = tck.domain();
    SharedReceiveQueue queue = tck.own(domain.createSharedReceiveQueue(1, 1));

    expectFailure(BUSY, domain::close);
    queue.close();

    domain.close();
  }

  @Test
  void refusesEverythingOnceItIsClosed() {
    SharedQueue shared = new SharedQueue(4);
    shared.queue.close();

    expectBadPost(CLOSED, 7, () -> shared.queue.postReceive(Requests.receive(7)));
    expectFailure(CLOSED, () -> shared.queue.limit(1));
    expectFailure(CLOSED, shared.queue::limit);
    expectFailure(CLOSED, shared::pair);
  }

  @Test
  void isOfNoUseToAnotherDevice() {
    SharedReceiveQueue elsewhere = tck.own(tck.domain().createSharedReceiveQueue(1, 1));

    expectFailure(INVALID, () -> tck.setup().serverShared(elsewhere).byHand());
  }

  @Test
  void givesEachReceiveToOneMessageWhenManyQueuePairsCompete() throws InterruptedException {
    int queuePairs = 4;
    int each = tck.iterations(2000);
    int receives = 256;
    SharedQueue shared = new SharedQueue(receives);
    List<EndpointPair> pairs = new ArrayList<>();
    for (int i = 0; i < queuePairs; i++) {
      pairs.add(shared.setup().sends(8).byHand());
    }
    for (int id = 0; id < receives; id++) {
      shared.post(id);
    }
    BitSet seen = new BitSet();

    Parallel parallel = new Parallel();
    for (int i = 0; i < queuePairs; i++) {
      int sender = i;
      parallel.thread(() -> sendAll(pairs.get(sender).client(), sender * each, each));
    }
    parallel.thread(() -> takeAll(pairs, shared, seen, queuePairs * each));
    parallel.run(tck.timeout().multipliedBy(2));

    assertThat(seen.cardinality()).isEqualTo(queuePairs * each);
  }

  private static void sendAll(Endpoint end, int first, int count) {
    TestMemory from = end.memory(8 * 8);
    for (int i = 0; i < count; i++) {
      TestMemory slot = from.part(i % 8 * 8, 8);
      end.post(Requests.send(i, slot.putLong(0, first + i)).signaled());
      if (i >= 7) {
        end.sent().expectSuccess(i - 7, SEND);
      }
    }
    for (int i = Math.max(0, count - 7); i < count; i++) {
      end.sent().expectSuccess(i, SEND);
    }
  }

  /** Polls messages of all queue pairs, asserts that each arrives once, and reposts its receive. */
  private void takeAll(List<EndpointPair> pairs, SharedQueue shared, BitSet seen, int count) {
    Deadline deadline = Deadline.in(tck.timeout().multipliedBy(2));
    int taken = 0;
    while (taken < count) {
      assertThat(deadline.isOver()).as("too late for message %d of %d", taken, count).isFalse();
      for (EndpointPair pair : pairs) {
        WorkCompletion received = pair.server().received().poll();
        if (received != null) {
          assertThat(received.isSuccess()).as("%s", received).isTrue();
          int id = (int) received.workRequestId();
          int message = (int) shared.at(id).getLong(0);
          assertThat(seen.get(message)).as("message %d was received before", message).isFalse();
          seen.set(message);
          shared.post(id);
          taken++;
        }
      }
    }
  }

  private static void send(EndpointPair pair, long value) {
    pair.client().post(Requests.send(90, pair.client().memory(8).putLong(0, value)).signaled());
    pair.client().sent().expectSuccess(90, SEND);
  }

  private static void receiveOne(EndpointPair pair, int id) {
    send(pair, id);
    pair.server().received().expectSuccess(id, RECV);
  }
}
