// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.RNR_RETRY_EXC_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages without a posted receive: they wait, are retried, or fail. */
abstract class ReceiverNotReadyTests extends VerbsTests {
  /** IBTA volume 1, table 45: code 20 is 10.24 ms. */
  private static final int TEN_MILLISECONDS = 20;

  /** Code 0 is 655.36 ms. */
  private static final int HALF_A_SECOND = 0;

  @RegisterExtension
  final RequiresSupport waiting =
      RequiresSupport.of(this, Capability.REQUEST_STATUS, this::assertEnded);

  ReceiverNotReadyTests(VerbsTck provider) {
    super(provider);
  }

  /** Asserts the behavior of a device without RNR: a SEND without a receive ends the connection. */
  private void assertEnded() {
    EndpointPair pair = tck.connected();

    pair.client().post(Requests.send(1, pair.client().memory(64).fill(1)).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  @Test
  void waitsUntilAReceiveIsPosted() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(64).fill(1);
    TestMemory into = pair.server().memory(64, LOCAL_WRITE);

    pair.client().post(Requests.send(1, from).signaled());
    pair.client().sent().expectNothing();
    pair.server().post(Requests.receive(2, into));

    pair.client().sent().expectSuccess(1, SEND);
    pair.server().received().expectSuccess(2, RECV);
    into.assertHolds(1);
  }

  @Test
  void isCountedByADeviceThatCounts() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.connected();
    DeviceCounters requester = pair.client().device().counters();
    DeviceCounters responder = pair.server().device().counters();
    long received = count(requester, Counter.RNR_RECEIVED);
    long sent = count(responder, Counter.RNR_SENT);
    TestMemory from = pair.client().memory(64);

    pair.client().post(Requests.send(1, from).signaled());
    awaitCountAbove(pair, requester, Counter.RNR_RECEIVED, received);
    awaitCountAbove(pair, responder, Counter.RNR_SENT, sent);
    expectCounted(pair, 1);
    expectCounted(other, 0);
    pair.server().post(Requests.receive(2, pair.server().memory(64, LOCAL_WRITE)));

    pair.client().sent().expectSuccess(1, SEND);
  }

  /** Asserts that RNR NAKs are counted, by the device or by each queue pair. */
  private static void expectCounted(EndpointPair pair, long least) {
    expectCounted(pair.client(), Figure.RNR_RECEIVED, least);
    expectCounted(pair.server(), Figure.RNR_SENT, least);
  }

  private static void expectCounted(Endpoint end, Figure figure, long least) {
    Long count = end.queuePair().reading().figures().get(figure);
    if (count != null) {
      assertThat(Math.min(count, 1)).as("%s of %s", figure, end).isEqualTo(least);
    }
  }

  /**
   * Returns a counter, or 0 for a counter that the device lacks; asserts that the device refuses to
   * read that one.
   */
  private static long count(DeviceCounters counters, Counter counter) {
    if (counters.counted().contains(counter)) {
      return counters.get(counter);
    }
    Failures.expectFailure(VerbsError.NOT_SUPPORTED, () -> counters.get(counter));
    return 0;
  }

  private void awaitCountAbove(
      EndpointPair pair, DeviceCounters counters, Counter counter, long before) {
    if (!counters.counted().contains(counter)) {
      return;
    }
    Deadline deadline = Deadline.in(tck.timeout());
    while (counters.get(counter) <= before) {
      assertThat(deadline.isOver()).as("%s is counted in time", counter).isFalse();
      // A device with deferred execution may execute requests only when it is polled.
      pair.client().sent().expectNothing();
      deadline.pause();
    }
  }

  @Test
  void keepsTheOrderOfWhatWaits() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(8 * 8);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    for (int id = 0; id < 8; id++) {
      pair.client().post(Requests.send(id, from.part(id * 8, 8).putLong(0, id)).signaled());
    }

    for (int id = 0; id < 8; id++) {
      takeOne(pair, into, id);
    }
  }

  @Test
  void keepsTheOrderOfWhatWaitsWhileItsSlotsAreUsedAgain() {
    EndpointPair pair = tck.setup().sends(3).rnrTimer(1).byHand();
    TestMemory from = pair.client().memory(3 * 8);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    for (int id = 0; id < 300; id++) {
      if (id >= 3) {
        takeOne(pair, into, id - 3);
      }
      pair.client().post(Requests.send(id, from.part(id % 3 * 8, 8).putLong(0, id)).signaled());
    }

    for (int id = 297; id < 300; id++) {
      takeOne(pair, into, id);
    }
  }

  @Test
  void keepsTheInlineDataOfAMessageThatWaits() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(8).connected();
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);
    ByteBuffer data = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());

    for (int id = 1; id <= 4; id++) {
      data.putLong(0, id);
      pair.client().post(new SendWorkRequest().id(id).send().inline(data).signaled());
    }
    data.putLong(0, -1);

    for (int id = 1; id <= 4; id++) {
      takeOne(pair, into, id);
    }
  }

  @Test
  void keepsThePiecesAndTheImmediateOfAMessageThatWaits() {
    if (isRefused(Capability.SEND_WITH_IMMEDIATE)) {
      return;
    }
    int most = Math.min(3, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(most, 1).connected();
    ScatteredMemory from = new ScatteredMemory(pair.client(), 100, most, 10, 50).fill(3);
    TestMemory into = pair.server().memory(100, LOCAL_WRITE);
    SendWorkRequest request = Requests.sendWithImmediate(1, 77, from.all()).signaled();

    pair.client().post(request);
    request.send().id(9);
    pair.server().post(Requests.receive(2, into));

    pair.client().sent().expectSuccess(1, SEND);
    assertThat(pair.server().received().expectSuccess(2, RECV).immediate()).isEqualTo(77);
    into.assertHolds(3);
  }

  @Test
  void failsWhenTheReceiveThatComesIsTooSmall() {
    EndpointPair pair = tck.connected();
    pair.client().post(Requests.send(1, pair.client().memory(8)).signaled());
    pair.client().post(Requests.send(2).signaled());

    pair.server().post(Requests.receive(3, pair.server().memory(7, LOCAL_WRITE)));

    pair.client().sent().expectError(1, REM_INV_REQ_ERR);
    pair.client().sent().expectError(2, WR_FLUSH_ERR);
    pair.server().received().expectError(3, LOC_LEN_ERR);
  }

  @Test
  void countsWhatWaitsAgainstTheCapacity() {
    Endpoint client = tck.setup().sends(4).connected().client();
    int capacity = client.queuePair().capabilities().maxSend();
    for (int id = 1; id <= capacity; id++) {
      client.post(Requests.send(id));
    }

    Failures.expectBadPost(VerbsError.NO_MEMORY, 99, () -> client.post(Requests.nothing(99)));
  }

  @Test
  void holdsBackWhatIsPostedBehindAMessageThatWaits() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory from = pair.client().memory(8).fill(1);

    pair.client().post(Requests.send(1).signaled());
    pair.client().post(Requests.write(2, remote, from).signaled());
    pair.client().sent().expectNothing();
    pair.server().post(Requests.receive(3));

    pair.client().sent().expectSuccess(1, SEND);
    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    remote.assertHolds(1);
  }

  @Test
  void holdsUpNoOtherQueuePair() {
    EndpointPair waiting = tck.connected();
    EndpointPair other = tck.connected();
    waiting.client().post(Requests.send(1).signaled());

    other.server().post(Requests.receive(2));
    other.client().post(Requests.send(3).signaled());

    other.client().sent().expectSuccess(3, SEND);
    other.server().received().expectSuccess(2, RECV);
    waiting.client().sent().expectNothing();
    waiting.server().post(Requests.receive(4));
    waiting.client().sent().expectSuccess(1, SEND);
  }

  @Test
  void failsAtOnceWithoutRetries() {
    EndpointPair pair = tck.setup().rnrRetry(0).byHand();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    pair.client().awaitState(QueuePairState.ERR);
  }

  @Test
  void failsAfterAllRetries() {
    EndpointPair pair = tck.setup().rnrRetry(3).byHand();

    pair.client().post(Requests.send(1).signaled());
    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    pair.client().sent().expectError(2, WR_FLUSH_ERR);
    pair.client().awaitState(QueuePairState.ERR);
  }

  @Test
  void failsAfterAllRetriesOfAConnectionThatTheManagerMade() {
    EndpointPair pair = tck.setup().rnrRetry(1).connected();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void failsAlsoUnsignaled() {
    EndpointPair pair = tck.setup().rnrRetry(0).byHand();

    pair.client().post(Requests.send(1));

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void waitsAsLongAsTheReceiverAskedBeforeEachRetry() {
    EndpointPair pair = tck.setup().rnrRetry(3).rnrTimer(TEN_MILLISECONDS).byHand();
    long start = System.nanoTime();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    assertThat(System.nanoTime() - start)
        .isGreaterThanOrEqualTo(3 * Duration.ofNanos(10_240_000).toNanos());
  }

  @Test
  void triesForEverWithSevenRetries() {
    EndpointPair forEver = tck.setup().rnrRetry(7).rnrTimer(1).byHand();
    EndpointPair sixTimes = tck.setup().rnrRetry(6).rnrTimer(TEN_MILLISECONDS).byHand();
    TestMemory from = forEver.client().memory(8).fill(1);
    TestMemory into = forEver.server().memory(8, LOCAL_WRITE);

    forEver.client().post(Requests.send(1, from).signaled());
    sixTimes.client().post(Requests.send(2).signaled());
    sixTimes.client().sent().expectError(2, RNR_RETRY_EXC_ERR);
    forEver.client().sent().expectNothing();
    forEver.server().post(Requests.receive(3, into));

    forEver.client().sent().expectSuccess(1, SEND);
    forEver.server().received().expectSuccess(3, RECV);
    into.assertHolds(1);
  }

  @Test
  void countsRetriesAnewForEachMessage() {
    // The retries of one message take 3.3 s, so a pause of this thread does not exhaust them.
    EndpointPair pair = tck.setup().rnrRetry(5).rnrTimer(HALF_A_SECOND).byHand();

    for (int id = 1; id <= 6; id++) {
      pair.client().post(Requests.send(id).signaled());
      pair.client().sent().expectNothing();
      pair.server().post(Requests.receive(id));
      pair.client().sent().expectSuccess(id, SEND);
    }

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void countsRetriesAnewAfterAReset() {
    EndpointSetup setup = tck.setup().rnrRetry(7).rnrTimer(1);
    EndpointPair pair = setup.byHand();
    Endpoint client = pair.client();
    client.post(Requests.send(1).signaled());
    client.sent().expectNothing();
    client.queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));
    client.sent().expectError(1, WR_FLUSH_ERR);

    setup.rnrRetry(0).connectClientAgain(pair);
    client.post(Requests.send(2).signaled());

    client.sent().expectError(2, RNR_RETRY_EXC_ERR);
  }

  @Test
  void takesAReceiveForAWriteWithImmediateToo() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().rnrRetry(1).byHand();
    TestMemory remote = pair.server().open(8);

    pair.client()
        .post(Requests.writeWithImmediate(1, 5, remote, pair.client().memory(8)).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void needsNoReceiveForOneSidedOperations() {
    EndpointPair pair = tck.setup().rnrRetry(0).byHand();
    TestMemory remote = pair.server().open(8);

    pair.client().post(Requests.write(1, remote, pair.client().memory(8).fill(1)).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
  }

  /** Posts a receive for the oldest waiting message. */
  private static void takeOne(EndpointPair pair, TestMemory into, int id) {
    pair.server().post(Requests.receive(id, into));
    pair.client().sent().expectSuccess(id, SEND);
    pair.server().received().expectSuccess(id, RECV);
    assertThat(into.getLong(0)).isEqualTo(id);
  }
}
