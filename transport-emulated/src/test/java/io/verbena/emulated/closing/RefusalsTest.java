// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A wrong program fails with the same status and the same effects over every transport. */
class RefusalsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
  private static final int LENGTH = 64;

  /** A queue pair whose shared receive queue is in another domain, and its peer. */
  private static final class Ends implements AutoCloseable {
    final EmulatedDevice device;
    final ProtectionDomain domain;
    final ProtectionDomain sharedDomain;
    final SharedReceiveQueue shared;
    final CompletionQueue done;
    final CompletionQueue peersDone;
    final QueuePair pair;
    final QueuePair peer;
    final ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.nativeOrder());
    final MemoryRegion own;
    final MemoryRegion ofShared;
    private final WorkCompletion[] one = WorkCompletion.array(1);

    Ends(Medium medium) {
      device = medium.open();
      domain = device.allocateProtectionDomain();
      sharedDomain = device.allocateProtectionDomain();
      shared = sharedDomain.createSharedReceiveQueue(4, 1);
      done = device.createCompletionQueue(16, null);
      peersDone = device.createCompletionQueue(16, null);
      pair =
          domain.createQueuePair(
              QueuePairOptions.reliable(done, done, 4, 4).withSharedReceiveQueue(shared));
      peer = domain.createQueuePair(QueuePairOptions.reliable(peersDone, peersDone, 4, 4));
      own = domain.register(bytes, ALL);
      ofShared = sharedDomain.register(ByteBuffer.allocateDirect(LENGTH), ALL);
      Connections.connect(device, pair, peer);
    }

    CompletionStatus next() {
      await().atMost(LIMIT).until(() -> done.poll(one) == 1);
      return one[0].status();
    }

    @Override
    public void close() {
      pair.close();
      peer.close();
      own.close();
      ofShared.close();
      done.close();
      peersDone.close();
      shared.close();
      sharedDomain.close();
      domain.close();
      device.close();
    }
  }

  // ---- domains: the answer to a request is of the queue pair's, a receive of its queue's

  @ParameterizedTest
  @EnumSource(Medium.class)
  void aReadIntoMemoryOfTheSharedQueuesDomain(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.pair.postSend(
          new SendWorkRequest(1)
              .read(ends.own.address(), ends.own.rkey())
              .buffer(ends.ofShared.address(), 8, ends.ofShared.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void anAtomicWhoseAnswerIsInMemoryOfTheSharedQueuesDomain(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.pair.postSend(
          new SendWorkRequest(1)
              .fetchAndAdd(ends.own.address(), ends.own.rkey(), 1)
              .buffer(ends.ofShared.address(), 8, ends.ofShared.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  @ParameterizedTest
  @EnumSource(Medium.class)
  void aSharedReceiveInMemoryOfTheQueuePairsDomain(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.shared.postReceive(
          new ReceiveWorkRequest(1).buffer(ends.own.address(), 8, ends.own.lkey()));

      ends.peer.postSend(
          new SendWorkRequest(1).send().buffer(ends.own.address(), 8, ends.own.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  // ---- a peer that does not answer

  @ParameterizedTest
  @EnumSource(value = Medium.class, mode = EnumSource.Mode.EXCLUDE, names = "IWARP")
  void aSendOfMemoryOfAnotherDomainToAPeerThatIsGone(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.peer.close();

      ends.pair.postSend(
          new SendWorkRequest(1).send().buffer(ends.ofShared.address(), 8, ends.ofShared.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    }
  }

  // ---- atomics

  /** Over iWARP the peer does not report which request failed. */
  @ParameterizedTest
  @EnumSource(value = Medium.class, mode = EnumSource.Mode.EXCLUDE, names = "IWARP")
  void anAtomicUnderAWrongKeyAtAnAddressThatIsNotAligned(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.pair.postSend(
          new SendWorkRequest(1)
              .fetchAndAdd(ends.own.address() + 4, ends.ofShared.rkey(), 1)
              .buffer(ends.own.address() + 8, 8, ends.own.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    }
  }

  /** Over iWARP the requester checks its own memory before it sends the request. */
  @ParameterizedTest
  @EnumSource(value = Medium.class, mode = EnumSource.Mode.EXCLUDE, names = "IWARP")
  void anAtomicIsDoneBeforeItsAnswerFails(Medium medium) {
    try (Ends ends = new Ends(medium)) {
      ends.pair.postSend(
          new SendWorkRequest(1)
              .fetchAndAdd(ends.own.address(), ends.own.rkey(), 3)
              .buffer(ends.ofShared.address(), 8, ends.ofShared.lkey()));

      assertThat(ends.next()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
      assertThat(ends.bytes.getLong(0)).isEqualTo(3);
    }
  }
}
