// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionOpcode.COMP_SWAP;
import static io.verbena.verbs.CompletionOpcode.FETCH_ADD;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Compare-and-swap and fetch-and-add. */
abstract class AtomicTests extends VerbsTests {
  @RegisterExtension
  final RequiresSupport atomics =
      RequiresSupport.of(
          this,
          Capability.ATOMICS,
          () -> UnsupportedRequests.assertRefused(Capability.ATOMICS, tck.connected()));

  AtomicTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void addsAndAnswersTheValueFromBefore() {
    EndpointPair pair = tck.connected();
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);
    TestMemory counter = pair.server().open(24).putLong(8, 0x0102_0304_0506_0708L);

    pair.client().post(Requests.fetchAndAdd(1, counter.part(8, 8), 10, result).signaled());

    WorkCompletion completion = pair.client().sent().expectSuccess(1, FETCH_ADD);
    assertThat(completion.byteLength()).isEqualTo(8);
    assertThat(result.getLong(0)).isEqualTo(0x0102_0304_0506_0708L);
    assertThat(counter.getLong(8)).isEqualTo(0x0102_0304_0506_0712L);
    counter.part(0, 8).assertUntouched();
    counter.part(16, 8).assertUntouched();
  }

  @Test
  void addsBeyondTheLargestNumberAndBackwards() {
    EndpointPair pair = tck.connected();
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);
    TestMemory counter = pair.server().open(8).putLong(0, -1);

    pair.client().post(Requests.fetchAndAdd(1, counter, 2, result).signaled());
    pair.client().sent().expectSuccess(1, FETCH_ADD);
    assertThat(counter.getLong(0)).isEqualTo(1);
    pair.client().post(Requests.fetchAndAdd(2, counter, -5, result).signaled());
    pair.client().sent().expectSuccess(2, FETCH_ADD);

    assertThat(result.getLong(0)).isEqualTo(1);
    assertThat(counter.getLong(0)).isEqualTo(-4);
  }

  @Test
  void swapsWhatItExpected() {
    EndpointPair pair = tck.connected();
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);
    TestMemory value = pair.server().open(8).putLong(0, 0x1122_3344_5566_7788L);

    pair.client()
        .post(Requests.compareAndSwap(1, value, 0x1122_3344_5566_7788L, 0x99L, result).signaled());

    WorkCompletion completion = pair.client().sent().expectSuccess(1, COMP_SWAP);
    assertThat(completion.byteLength()).isEqualTo(8);
    assertThat(result.getLong(0)).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(value.getLong(0)).isEqualTo(0x99L);
  }

  @Test
  void swapsNothingThatItDidNotExpectAndAnswersWhatIsThere() {
    EndpointPair pair = tck.connected();
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);
    TestMemory value = pair.server().open(8).putLong(0, 5);

    pair.client().post(Requests.compareAndSwap(1, value, 4, 9, result).signaled());

    pair.client().sent().expectSuccess(1, COMP_SWAP);
    assertThat(result.getLong(0)).isEqualTo(5);
    assertThat(value.getLong(0)).isEqualTo(5);
  }

  @Test
  void rejectsAnAddressThatIsNotAligned() {
    for (int offset : new int[] {1, 4, 7}) {
      EndpointPair pair = tck.connected();
      TestMemory remote = pair.server().open(64);
      TestMemory result = pair.client().memory(8, LOCAL_WRITE);

      rejects(
          pair,
          REM_INV_REQ_ERR,
          Requests.fetchAndAdd(1, remote.part(offset, 8), 1, result).signaled());
      remote.assertUntouched();
    }
  }

  @Test
  void rejectsARegionWithoutTheRight() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(8, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    rejects(pair, REM_ACCESS_ERR, Requests.fetchAndAdd(1, remote, 1, result).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsAQueuePairWithoutTheRight() {
    EndpointPair pair = tck.setup().access(REMOTE_READ, REMOTE_WRITE).byHand();
    TestMemory remote = pair.server().open(8);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    rejects(pair, REM_INV_REQ_ERR, Requests.compareAndSwap(1, remote, 0, 1, result).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        new SendWorkRequest()
            .id(1)
            .fetchAndAdd(remote.address(), remote.rkey() ^ 0x5555_5555, 1)
            .signaled()
            .buffer(result.address(), 8, result.lkey()));
    remote.assertUntouched();
  }

  @Test
  void rejectsAnAddressBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(16);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        new SendWorkRequest()
            .id(1)
            .fetchAndAdd(remote.address() + 16, remote.rkey(), 1)
            .signaled()
            .buffer(result.address(), 8, result.lkey()));
  }

  @Test
  void rejectsAResultOfLessThanEightBytes() {
    for (int length : new int[] {0, 4}) {
      EndpointPair pair = tck.connected();
      TestMemory remote = pair.server().open(8);
      TestMemory result = pair.client().memory(64, LOCAL_WRITE).part(0, length);

      VerbsError error = null;
      CompletionStatus status = SUCCESS;
      try {
        pair.client().post(Requests.fetchAndAdd(1, remote, 1, result).signaled());
        status = pair.client().sent().next().status();
      } catch (PostException e) {
        error = e.error();
      }

      // Some HCAs check the length at the post, others when the response arrives.
      if (error == null) {
        assertThat(status).as("status with a result of %d bytes", length).isEqualTo(LOC_LEN_ERR);
      } else {
        assertThat(error).as("error of a result of %d bytes", length).isEqualTo(VerbsError.INVALID);
      }
    }
  }

  @Test
  void losesNoUpdateOfManyQueuePairs() throws InterruptedException {
    int each = tck.iterations(2000);
    int threads = 4;
    ProtectionDomain shared = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory counter =
        tck.memory(
            shared, 8, EnumSet.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, Access.REMOTE_ATOMIC));
    Parallel parallel = new Parallel();
    List<BitSet> drawn = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Endpoint client = tck.setup().serverDomain(shared).connected().client();
      BitSet tickets = new BitSet();
      drawn.add(tickets);
      parallel.thread(() -> drawTickets(client, counter, each, tickets));
    }

    parallel.run(tck.timeout().multipliedBy(2));

    assertThat(counter.getLong(0)).isEqualTo((long) threads * each);
    BitSet all = new BitSet();
    for (BitSet tickets : drawn) {
      assertThat(tickets.cardinality()).isEqualTo(each);
      assertThat(all.intersects(tickets)).as("a ticket drawn twice").isFalse();
      all.or(tickets);
    }
    assertThat(all.nextClearBit(0)).isEqualTo(threads * each);
  }

  @Test
  void letsOneOfManySwappersWin() throws InterruptedException {
    int rounds = tck.iterations(500);
    ProtectionDomain shared = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory value =
        tck.memory(
            shared, 8, EnumSet.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, Access.REMOTE_ATOMIC));
    List<List<Long>> won = List.of(new ArrayList<>(), new ArrayList<>());
    Parallel parallel = new Parallel();
    for (List<Long> mine : won) {
      Endpoint client = tck.setup().serverDomain(shared).connected().client();
      parallel.thread(() -> swapUpTo(rounds, client, value, mine));
    }

    parallel.run(tck.timeout().multipliedBy(2));

    List<Long> all = new ArrayList<>(won.get(0));
    all.addAll(won.get(1));
    assertThat(all).doesNotHaveDuplicates().hasSize(rounds);
    assertThat(value.getLong(0)).isEqualTo(rounds);
  }

  @Test
  void holdsBackAFencedMessageUntilTheAtomicIsDone() {
    EndpointPair pair = tck.connected();
    TestMemory counter = pair.server().open(8);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);
    TestMemory into = pair.server().memory(8, LOCAL_WRITE);

    for (int round = 0; round < tck.iterations(100); round++) {
      pair.server().post(Requests.receive(round, into));
      pair.client()
          .post(
              Requests.linked(
                  Requests.fetchAndAdd(1, counter, 1, result),
                  Requests.send(2, result).fence().signaled()));

      pair.client().sent().expectSuccess(2, SEND);
      pair.server().received().next();
      assertThat(into.getLong(0)).isEqualTo(round);
    }
  }

  private static void drawTickets(Endpoint client, TestMemory counter, int count, BitSet tickets) {
    TestMemory result = client.memory(8, LOCAL_WRITE);
    for (int i = 0; i < count; i++) {
      client.post(Requests.fetchAndAdd(i, counter, 1, result).signaled());
      client.sent().expectSuccess(i, FETCH_ADD);
      tickets.set((int) result.getLong(0));
    }
  }

  /**
   * Increments the value by compare-and-swap until it is {@code goal}. Collects the values that it
   * replaced.
   */
  private static void swapUpTo(int goal, Endpoint client, TestMemory value, List<Long> won) {
    TestMemory result = client.memory(8, LOCAL_WRITE);
    long expected = 0;
    while (expected < goal) {
      client.post(Requests.compareAndSwap(1, value, expected, expected + 1, result).signaled());
      client.sent().expectSuccess(1, COMP_SWAP);
      long found = result.getLong(0);
      if (found == expected) {
        won.add(expected);
        expected++;
      } else {
        expected = found;
      }
    }
  }

  private static void rejects(EndpointPair pair, CompletionStatus status, SendWorkRequest request) {
    pair.client().post(request);
    pair.client().sent().expectError(request.id(), status);
  }
}
