// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests READs that the requester copies from memory that the responder has granted. */
class ReadGrantTest {
  private static final int LENGTH = 3 * Pair.MTU + 7;
  private static final int FROM = 4096;

  private final Pair pair = Pair.reliable().sharing();
  private final TestGrants grants = TestGrants.between(pair);

  @BeforeEach
  void readOnce() {
    read(1);
    assertThat(readRequests()).isEqualTo(1);
    assertThat(isGranted()).isTrue();
  }

  private boolean isGranted() {
    return grants.holds(pair.b, pair.a, pair.atB.key);
  }

  private void read(long id) {
    Arrays.fill(pair.atA.bytes, 0, LENGTH, (byte) 0);
    pair.a.post(pair.read(id, 0, LENGTH, FROM));
    pair.run();
    assertThat(last().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(Arrays.copyOf(pair.atA.bytes, LENGTH))
        .isEqualTo(Arrays.copyOfRange(pair.atB.bytes, FROM, FROM + LENGTH));
  }

  private TestHost.Done last() {
    List<TestHost.Done> done = pair.a.host.sendsDone;
    return done.get(done.size() - 1);
  }

  private long readRequests() {
    return pair.wire.sentBy(true).stream()
        .filter(packet -> packet.opcode() == PacketOpcode.RC_READ_REQUEST)
        .count();
  }

  @Test
  void needNoPacketOnceOneWasAnswered() {
    int sent = pair.wire.sentBy(true).size() + pair.wire.sentBy(false).size();
    pair.atB.bytes[FROM] ^= 1;

    read(2);

    assertThat(pair.wire.sentBy(true).size() + pair.wire.sentBy(false).size()).isEqualTo(sent);
    assertThat(grants.copies).isEqualTo(1);
  }

  @Test
  void leaveTheNextPsnToTheNextPacket() {
    read(2);
    pair.a.post(pair.write(3, 0, 8, 0));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(pair.b.host.counts).isEmpty();
  }

  @Test
  void areDoneInOrderWithTheRequestsAroundThem() {
    pair.a.queue(pair.write(2, 0, 64, 0));
    pair.a.queue(pair.read(3, 100, 64, 0));
    pair.a.queue(pair.read(4, 200, 64, 0));
    pair.a.queue(pair.write(5, 200, 64, 300).fence());
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(TestHost.Done::id)
        .containsExactly(1L, 2L, 3L, 4L, 5L);
    for (int at : new int[] {100, 200}) {
      assertThat(Arrays.copyOfRange(pair.atA.bytes, at, at + 64))
          .isEqualTo(Arrays.copyOf(pair.atA.bytes, 64));
    }
    assertThat(Arrays.copyOfRange(pair.atB.bytes, 300, 364))
        .isEqualTo(Arrays.copyOf(pair.atA.bytes, 64));
  }

  @Test
  void waitForReadsInFlightInsteadOfOvertakingThem() {
    grants.revokeAll();
    pair.a.queue(pair.read(2, 0, 64, 0));
    pair.a.run();
    grants.grant(pair.b, pair.a, pair.atB.key);
    pair.a.queue(pair.read(3, 100, 64, 0));
    pair.a.run();
    assertThat(last().id()).isEqualTo(1);

    pair.run();

    assertThat(pair.a.host.sendsDone).extracting(TestHost.Done::id).containsExactly(1L, 2L, 3L);
    assertThat(readRequests()).isEqualTo(2);
    assertThat(grants.copies).isEqualTo(1);
  }

  @Test
  void askByPacketIfTheGrantEndsDuringTheCopy() {
    grants.meanwhile = grants::revokeAll;

    read(2);

    assertThat(grants.copies).isEqualTo(1);
    assertThat(readRequests()).isEqualTo(2);
  }

  @Test
  void failAsOthersDoIfTheMemoryIsGone() {
    grants.meanwhile =
        () -> {
          grants.revokeAll();
          assertThat(pair.b.host.forget(pair.atB.key)).isTrue();
        };
    pair.a.post(pair.read(2, 0, LENGTH, FROM));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }

  @Test
  void needRightsThatTheQueuePairStillGives() {
    pair.b.attributes.access(EnumSet.of(Access.REMOTE_WRITE));
    pair.b.modify(QueuePairState.RTS);
    assertThat(isGranted()).isFalse();

    pair.a.post(pair.read(2, 0, LENGTH, FROM));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.REM_INV_REQ_ERR);
  }

  @Test
  void areNotDoneForAQueuePairThatHasStopped() {
    pair.b.modify(QueuePairState.ERR);
    assertThat(isGranted()).isFalse();

    pair.a.post(pair.read(2, 0, LENGTH, FROM));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
  }

  @Test
  void askByPacketForWhatWasNotGranted() {
    int far = Pair.SIZE - 8;
    pair.a.post(pair.read(2, 0, LENGTH, far));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    assertThat(grants.copies).isZero();
  }

  @Test
  void checkTheMemoryThatTheyWriteTo() {
    SendWorkRequest request =
        new SendWorkRequest().id(2).read(pair.atB.address, pair.atB.key).signaled();
    TestHost.Region readOnly = pair.a.host.register(LENGTH, 0);
    pair.a.post(request.buffer(readOnly.address, LENGTH, readOnly.key));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
    assertThat(readOnly.bytes).containsOnly(0);
  }
}
