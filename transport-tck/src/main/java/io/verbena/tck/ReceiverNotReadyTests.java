package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.RNR_RETRY_EXC_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePairState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A message that finds no receive: it waits, it is retried, or it fails. */
abstract class ReceiverNotReadyTests extends VerbsTests {
  /** IBTA volume 1, table 45: code 20 is 10.24 ms. */
  private static final int TEN_MILLISECONDS = 20;

  /** Code 0 is 655.36 ms. */
  private static final int HALF_A_SECOND = 0;

  ReceiverNotReadyTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void waitsUntilAReceiveIsPosted() {
    Pair pair = tck.connected();
    Memory from = pair.client().memory(64).fill(1);
    Memory into = pair.server().memory(64, LOCAL_WRITE);

    pair.client().post(Requests.send(1, from).signaled());
    pair.client().sent().expectNothing();
    pair.server().post(Requests.receive(2, into));

    pair.client().sent().expectSuccess(1, SEND);
    pair.server().received().expectSuccess(2, RECV);
    into.assertHolds(1);
  }

  @Test
  void keepsTheOrderOfWhatWaits() {
    Pair pair = tck.connected();
    Memory from = pair.client().memory(8 * 8);
    Memory into = pair.server().memory(8, LOCAL_WRITE);
    for (int id = 0; id < 8; id++) {
      pair.client().post(Requests.send(id, from.part(id * 8, 8).putLong(0, id)).signaled());
    }

    for (int id = 0; id < 8; id++) {
      pair.server().post(Requests.receive(100 + id, into));
      pair.client().sent().expectSuccess(id, SEND);
      pair.server().received().expectSuccess(100 + id, RECV);
      assertThat(into.getLong(0)).isEqualTo(id);
    }
  }

  @Test
  void holdsBackWhatIsPostedBehindAMessageThatWaits() {
    Pair pair = tck.connected();
    Memory remote = pair.server().open(8);
    Memory from = pair.client().memory(8).fill(1);

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
    Pair waiting = tck.connected();
    Pair other = tck.connected();
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
    Pair pair = tck.setup().rnrRetry(0).byHand();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    pair.client().awaitState(QueuePairState.ERR);
  }

  @Test
  void failsAfterAllRetries() {
    Pair pair = tck.setup().rnrRetry(3).byHand();

    pair.client().post(Requests.send(1).signaled());
    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    pair.client().sent().expectError(2, WR_FLUSH_ERR);
    pair.client().awaitState(QueuePairState.ERR);
  }

  @Test
  void failsAfterAllRetriesOfAConnectionThatTheManagerMade() {
    Pair pair = tck.setup().rnrRetry(1).connected();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void failsAlsoUnsignaled() {
    Pair pair = tck.setup().rnrRetry(0).byHand();

    pair.client().post(Requests.send(1));

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void waitsAsLongAsTheReceiverAskedBeforeEachRetry() {
    Pair pair = tck.setup().rnrRetry(3).rnrTimer(TEN_MILLISECONDS).byHand();
    long start = System.nanoTime();

    pair.client().post(Requests.send(1).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
    assertThat(System.nanoTime() - start)
        .isGreaterThanOrEqualTo(3 * Duration.ofNanos(10_240_000).toNanos());
  }

  @Test
  void triesForEverWithSevenRetries() {
    Pair forEver = tck.setup().rnrRetry(7).rnrTimer(1).byHand();
    Pair sixTimes = tck.setup().rnrRetry(6).rnrTimer(TEN_MILLISECONDS).byHand();
    Memory from = forEver.client().memory(8).fill(1);
    Memory into = forEver.server().memory(8, LOCAL_WRITE);

    forEver.client().post(Requests.send(1, from).signaled());
    sixTimes.client().post(Requests.send(2).signaled());
    sixTimes.client().sent().expectError(2, RNR_RETRY_EXC_ERR);
    forEver.client().sent().expectNothing();
    forEver.server().post(Requests.receive(3, into));

    forEver.client().sent().expectSuccess(1, SEND);
    into.assertHolds(1);
  }

  @Test
  void countsRetriesAnewForEachMessage() {
    Pair pair = tck.setup().rnrRetry(1).rnrTimer(HALF_A_SECOND).byHand();

    for (int id = 1; id <= 3; id++) {
      pair.client().post(Requests.send(id).signaled());
      pair.client().sent().expectNothing();
      pair.server().post(Requests.receive(id));
      pair.client().sent().expectSuccess(id, SEND);
    }

    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void takesAReceiveForAWriteWithImmediateToo() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    Pair pair = tck.setup().rnrRetry(1).byHand();
    Memory remote = pair.server().open(8);

    pair.client()
        .post(Requests.writeWithImmediate(1, 5, remote, pair.client().memory(8)).signaled());

    pair.client().sent().expectError(1, RNR_RETRY_EXC_ERR);
  }

  @Test
  void needsNoReceiveForOneSidedOperations() {
    Pair pair = tck.setup().rnrRetry(0).byHand();
    Memory remote = pair.server().open(8);

    pair.client().post(Requests.write(1, remote, pair.client().memory(8).fill(1)).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
  }
}
