// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.PayloadReference;
import io.verbena.emulated.roce.ReadGrant;
import io.verbena.emulated.roce.ReadGrants;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** READs that the requester does by itself, out of memory that the responder granted. */
class ReadGrantTest {
  private static final int LENGTH = 3 * Pair.MTU + 7;
  private static final int FROM = 4096;

  private final Pair pair = Pair.reliable().sharing();
  private final Granted granted = new Granted();

  /** What B grants to A, by key, and what happens while A copies. */
  private final class Granted implements ReadGrants {
    final Map<Integer, Integer> queuePairs = new HashMap<>();
    int copies;
    Runnable meanwhile = () -> {};

    @Override
    public void grant(Gid reader, ReadGrant what) {
      assertThat(reader.low()).isEqualTo(pair.a.number);
      assertThat(what.readerQueuePair()).isEqualTo(pair.a.number);
      assertThat(what.address()).isEqualTo(pair.atB.address);
      assertThat(what.length()).isEqualTo(Pair.SIZE);
      queuePairs.put(what.key(), what.queuePair());
    }

    @Override
    public void revoke(int queuePair) {
      queuePairs.values().removeIf(each -> each == queuePair);
    }

    @Override
    public boolean find(Gid host, ReadGrant wanted, PayloadReference to) {
      if (host.low() != pair.b.number
          || !Objects.equals(queuePairs.get(wanted.key()), wanted.queuePair())) {
        return false;
      }
      int at = (int) (wanted.address() - pair.atB.address);
      if (at < 0 || at + wanted.length() > Pair.SIZE) {
        return false;
      }
      to.found(ByteBuffer.wrap(pair.atB.bytes), at, () -> confirm(wanted.key()));
      return true;
    }

    private boolean confirm(int key) {
      copies++;
      meanwhile.run();
      return queuePairs.containsKey(key);
    }
  }

  @BeforeEach
  void readOnce() {
    pair.a.grants = granted;
    pair.b.grants = granted;
    read(1);
    assertThat(readRequests()).isEqualTo(1);
    assertThat(granted.queuePairs).containsEntry(pair.atB.key, pair.b.number);
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
    assertThat(granted.copies).isEqualTo(1);
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
    granted.queuePairs.clear();
    pair.a.queue(pair.read(2, 0, 64, 0));
    pair.a.run();
    granted.queuePairs.put(pair.atB.key, pair.b.number);
    pair.a.queue(pair.read(3, 100, 64, 0));
    pair.a.run();
    assertThat(last().id()).isEqualTo(1);

    pair.run();

    assertThat(pair.a.host.sendsDone).extracting(TestHost.Done::id).containsExactly(1L, 2L, 3L);
    assertThat(readRequests()).isEqualTo(2);
    assertThat(granted.copies).isEqualTo(1);
  }

  @Test
  void askByPacketIfTheGrantEndsDuringTheCopy() {
    granted.meanwhile = granted.queuePairs::clear;

    read(2);

    assertThat(granted.copies).isEqualTo(1);
    assertThat(readRequests()).isEqualTo(2);
  }

  @Test
  void failAsOthersDoIfTheMemoryIsGone() {
    granted.meanwhile =
        () -> {
          granted.queuePairs.clear();
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
    assertThat(granted.queuePairs).isEmpty();

    pair.a.post(pair.read(2, 0, LENGTH, FROM));
    pair.run();

    assertThat(last().status()).isEqualTo(CompletionStatus.REM_INV_REQ_ERR);
  }

  @Test
  void areNotDoneForAQueuePairThatHasStopped() {
    pair.b.modify(QueuePairState.ERR);
    assertThat(granted.queuePairs).isEmpty();

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
    assertThat(granted.copies).isZero();
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
