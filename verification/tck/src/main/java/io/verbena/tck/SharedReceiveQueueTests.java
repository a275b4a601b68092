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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shared receive queues: one supply of receives for several queue pairs. */
abstract class SharedReceiveQueueTests extends VerbsTests {
  private boolean refused;

  SharedReceiveQueueTests(VerbsTck provider) {
    super(provider);
  }

  @BeforeEach
  void needsSharedReceiveQueues() {
    refused = !tck.supports(Capability.SHARED_RECEIVE_QUEUE);
    if (refused) {
      expectFailure(NOT_SUPPORTED, () -> tck.domain().createSharedReceiveQueue(1, 1));
    }
  }

  /** A shared queue on the server's device, and memory for its receives. */
  private final class Supply {
    final ProtectionDomain domain = tck.own(tck.serverDevice().allocateProtectionDomain());
    final SharedReceiveQueue queue;
    final TestMemory memory = tck.memory(domain, 4096, Set.of(LOCAL_WRITE));

    Supply(int receives) {
      queue = tck.own(domain.createSharedReceiveQueue(receives, 1));
    }

    EndpointSetup setup() {
      return tck.setup().serverDomain(domain).serverShared(queue);
    }

    /** Two ends, of which the server's takes from here. */
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
    if (refused) {
      return;
    }
    Supply supply = new Supply(16);
    List<EndpointPair> pairs = List.of(supply.pair(), supply.pair(), supply.pair());
    for (int id = 0; id < 9; id++) {
      supply.post(id);
    }

    for (int id = 0; id < 9; id++) {
      EndpointPair pair = pairs.get(id % 3);
      send(pair, 100 + id);
      WorkCompletion received = pair.server().received().expectSuccess(id, RECV);
      assertThat(received.queuePairNumber()).isEqualTo(pair.server().queuePair().number());
      assertThat(supply.at(id).getLong(0)).isEqualTo(100 + id);
    }
  }

  @Test
  void isNoFigureOfAQueuePairButWhatItGaveIt() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();
    supply.post(0);
    supply.post(1);
    receiveOne(pair, 0);

    Map<Figure, Long> figures = pair.server().queuePair().reading().figures();

    assertThat(figures).doesNotContainKeys(Figure.RECEIVES_POSTED, Figure.RECEIVE_QUEUE_SIZE);
    assertThat(figures.getOrDefault(Figure.RECEIVES_DONE, 1L)).isEqualTo(1);
  }

  @Test
  void raisesOneEventWhenOfTenPostedWithLimitSevenFourAreTaken() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(16);
    EndpointPair one = supply.pair();
    EndpointPair two = supply.pair();
    for (int id = 0; id < 10; id++) {
      supply.post(id);
    }
    supply.queue.limit(7);
    assertThat(supply.queue.limit()).isEqualTo(7);

    for (int id = 0; id < 3; id++) {
      receiveOne(id % 2 == 0 ? one : two, id);
    }
    tck.expectNoEvent(tck.serverDevice());
    receiveOne(two, 3);

    tck.expectEvent(tck.serverDevice(), SRQ_LIMIT_REACHED, supply.queue);
    assertThat(supply.queue.limit()).isZero();
    receiveOne(one, 4);
    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void raisesAnotherEventWhenItsLimitIsSetAgain() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();
    for (int round = 0; round < 3; round++) {
      supply.post(2 * round);
      supply.post(2 * round + 1);
      supply.queue.limit(1);
      receiveOne(pair, 2 * round);
      tck.expectNoEvent(tck.serverDevice());

      receiveOne(pair, 2 * round + 1);

      tck.expectEvent(tck.serverDevice(), SRQ_LIMIT_REACHED, supply.queue);
    }
  }

  @Test
  void raisesNoEventWithoutALimit() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();
    supply.post(0);
    supply.queue.limit(1);
    supply.queue.limit(0);

    receiveOne(pair, 0);

    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void refusesALimitThatItCannotHold() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);

    expectFailure(INVALID, () -> supply.queue.limit(-1));
    expectFailure(INVALID, () -> supply.queue.limit(supply.queue.maxWorkRequests() + 1));

    assertThat(supply.queue.limit()).isZero();
  }

  @Test
  void grantsWhatItWasAskedFor() {
    if (refused) {
      return;
    }
    SharedReceiveQueue queue = tck.own(tck.domain().createSharedReceiveQueue(5, 3));

    assertThat(queue.maxWorkRequests()).isGreaterThanOrEqualTo(5);
    assertThat(queue.maxScatterGather()).isGreaterThanOrEqualTo(3);
  }

  @Test
  void refusesSizesThatAreOutOfRange() {
    if (refused) {
      return;
    }
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
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();

    expectBadPost(INVALID, 7, () -> pair.server().post(Requests.receive(7)));

    assertThat(pair.server().queuePair().sharedReceiveQueue()).isSameAs(supply.queue);
  }

  @Test
  void refusesMoreBuffersThanItTakes() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    TestMemory[] pieces = new TestMemory[supply.queue.maxScatterGather() + 1];
    Arrays.fill(pieces, supply.at(0));

    expectBadPost(INVALID, 7, () -> supply.queue.postReceive(Requests.receive(7, pieces)));
  }

  @Test
  void isFullWhenAllThatItHoldsIsPosted() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    int most = supply.queue.maxWorkRequests();
    for (int id = 0; id < most; id++) {
      supply.queue.postReceive(Requests.receive(id));
    }

    expectBadPost(NO_MEMORY, 99, () -> supply.queue.postReceive(Requests.receive(99)));
  }

  @Test
  void namesTheFirstOfLinkedReceivesThatDoesNotFit() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(2);
    EndpointPair pair = supply.pair();
    int most = supply.queue.maxWorkRequests();
    for (int id = 2; id < most; id++) {
      supply.queue.postReceive(Requests.receive(1000 + id));
    }

    expectBadPost(
        NO_MEMORY,
        3,
        () ->
            supply.queue.postReceive(
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
    if (refused) {
      return;
    }
    Supply supply = new Supply(2);
    EndpointPair one = supply.pair();
    EndpointPair two = supply.pair();
    int most = supply.queue.maxWorkRequests();
    for (int id = 0; id < most; id++) {
      supply.queue.postReceive(Requests.receive(id));
    }
    one.client().post(Requests.send(1).signaled());
    one.client().sent().expectSuccess(1, SEND);
    two.client().post(Requests.send(2).signaled());
    two.client().sent().expectSuccess(2, SEND);
    expectBadPost(NO_MEMORY, 99, () -> supply.queue.postReceive(Requests.receive(99)));

    two.server().received().expectSuccess(1, RECV);
    supply.queue.postReceive(Requests.receive(50));
    expectBadPost(NO_MEMORY, 99, () -> supply.queue.postReceive(Requests.receive(99)));
    one.server().received().expectSuccess(0, RECV);
    supply.queue.postReceive(Requests.receive(51));

    expectBadPost(NO_MEMORY, 99, () -> supply.queue.postReceive(Requests.receive(99)));
  }

  @Test
  void getsBackTheSlotsOfAQueuePairThatIsGone() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(2);
    int most = supply.queue.maxWorkRequests();
    for (int round = 0; round < 3; round++) {
      EndpointPair pair = supply.pair();
      for (int id = 0; id < most; id++) {
        supply.queue.postReceive(Requests.receive(id));
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
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    List<EndpointPair> pairs = List.of(supply.pair(), supply.pair());
    for (EndpointPair pair : pairs) {
      pair.client().post(Requests.send(1, pair.client().memory(8).putLong(0, 77)).signaled());
      pair.client().sent().expectNothing();
    }

    supply.post(0);
    supply.post(1);

    for (EndpointPair pair : pairs) {
      pair.client().sent().expectSuccess(1, SEND);
      pair.server().received().next();
    }
    assertThat(supply.at(0).getLong(0)).isEqualTo(77);
    assertThat(supply.at(1).getLong(0)).isEqualTo(77);
  }

  @Test
  void givesAReceiveToAWriteWithImmediate() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();
    TestMemory remote = pair.server().open(8);
    supply.post(0);

    pair.client().post(Requests.writeWithImmediate(1, 5, remote, pair.client().memory(8).fill(1)));

    assertThat(pair.server().received().expectSuccess(0, RECV_RDMA_WITH_IMM).immediate())
        .isEqualTo(5);
    remote.assertHolds(1);
    assertThat(supply.at(0).getLong(0)).isZero();
  }

  @Test
  void servesUnreliableConnections() {
    if (refused || isRefused(QueuePairType.UC)) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.setup().type(QueuePairType.UC).byHand();
    supply.post(3);

    send(pair, 2);

    pair.server().received().expectSuccess(3, RECV);
    assertThat(supply.at(3).getLong(0)).isEqualTo(2);
  }

  @Test
  void servesDatagrams() {
    if (refused || isRefused(QueuePairType.UD)) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.setup().type(QueuePairType.UD).byHand();
    supply.queue.postReceive(Requests.receive(1, supply.memory.part(0, 48)));

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
    assertThat(supply.memory.getLong(40)).isEqualTo(9);
  }

  @Test
  void refusesAMessageThatIsLargerThanTheReceiveThatItGot() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair one = supply.pair();
    EndpointPair two = supply.pair();
    supply.post(0);
    supply.post(1);

    one.client().post(Requests.send(2, one.client().memory(16)));

    one.client().sent().expectError(2, REM_INV_REQ_ERR);
    one.server().received().expectError(0, LOC_LEN_ERR);
    receiveOne(two, 1);
  }

  @Test
  void keepsItsReceivesWhenAQueuePairFails() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair one = supply.pair();
    EndpointPair two = supply.pair();
    supply.post(0);
    supply.post(1);

    one.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    one.server().awaitState(QueuePairState.ERR);
    one.server().received().expectNothing();
    receiveOne(two, 0);
    receiveOne(two, 1);
  }

  @Test
  void tellsThatAQueuePairInErrorTakesNoMoreReceives() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair pair = supply.pair();

    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    tck.expectEvent(tck.serverDevice(), QP_LAST_WQE_REACHED, pair.server().queuePair());
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    tck.expectNoEvent(tck.serverDevice());
  }

  @Test
  void cannotBeClosedWhileAQueuePairUsesIt() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    EndpointPair one = supply.pair();
    EndpointPair two = supply.pair();

    expectFailure(BUSY, supply.queue::close);
    one.server().queuePair().close();
    expectFailure(BUSY, supply.queue::close);
    supply.post(0);
    receiveOne(two, 0);
    two.server().queuePair().close();

    supply.queue.close();
    supply.queue.close();
  }

  @Test
  void keepsItsDomainOpen() {
    if (refused) {
      return;
    }
    ProtectionDomain domain = tck.domain();
    SharedReceiveQueue queue = tck.own(domain.createSharedReceiveQueue(1, 1));

    expectFailure(BUSY, domain::close);
    queue.close();

    domain.close();
  }

  @Test
  void refusesEverythingOnceItIsClosed() {
    if (refused) {
      return;
    }
    Supply supply = new Supply(4);
    supply.queue.close();

    expectBadPost(CLOSED, 7, () -> supply.queue.postReceive(Requests.receive(7)));
    expectFailure(CLOSED, () -> supply.queue.limit(1));
    expectFailure(CLOSED, supply.queue::limit);
    expectFailure(CLOSED, supply::pair);
  }

  @Test
  void isOfNoUseToAnotherDevice() {
    if (refused) {
      return;
    }
    SharedReceiveQueue elsewhere = tck.own(tck.domain().createSharedReceiveQueue(1, 1));

    expectFailure(INVALID, () -> tck.setup().serverShared(elsewhere).byHand());
  }

  @Test
  void givesEachReceiveToOneMessageWhenManyQueuePairsCompete() throws InterruptedException {
    if (refused) {
      return;
    }
    int queuePairs = 4;
    int each = tck.rounds(2000);
    int receives = 256;
    Supply supply = new Supply(receives);
    List<EndpointPair> pairs = new ArrayList<>();
    for (int i = 0; i < queuePairs; i++) {
      pairs.add(supply.setup().sends(8).byHand());
    }
    for (int id = 0; id < receives; id++) {
      supply.post(id);
    }
    BitSet seen = new BitSet();

    Parallel parallel = new Parallel();
    for (int i = 0; i < queuePairs; i++) {
      int sender = i;
      parallel.thread(() -> sendAll(pairs.get(sender).client(), sender * each, each));
    }
    parallel.thread(() -> takeAll(pairs, supply, seen, queuePairs * each));
    parallel.run(tck.patience().multipliedBy(2));

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

  /** Takes what arrives anywhere, once each, and posts its receive again. */
  private void takeAll(List<EndpointPair> pairs, Supply supply, BitSet seen, int count) {
    Deadline deadline = Deadline.in(tck.patience().multipliedBy(2));
    int taken = 0;
    while (taken < count) {
      assertThat(deadline.isOver()).as("too late for message %d of %d", taken, count).isFalse();
      for (EndpointPair pair : pairs) {
        WorkCompletion received = pair.server().received().poll();
        if (received != null) {
          assertThat(received.isSuccess()).as("%s", received).isTrue();
          int id = (int) received.workRequestId();
          int message = (int) supply.at(id).getLong(0);
          assertThat(seen.get(message)).as("message %d was there before", message).isFalse();
          seen.set(message);
          supply.post(id);
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
