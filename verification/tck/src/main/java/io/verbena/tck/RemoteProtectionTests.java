// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Protection of remote memory: each rejected access has its status and changes no byte. */
abstract class RemoteProtectionTests extends VerbsTests {
  private static final int SIZE = 64;

  RemoteProtectionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void rejectsAReadWithAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, read(local, remote.address(), remote.rkey() ^ 0x5555_5555));
    local.assertUntouched();
  }

  @Test
  void rejectsAWriteWithAWrongKey() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().memory(SIZE).fill(1);

    rejects(pair, REM_ACCESS_ERR, write(local, remote.address(), remote.rkey() ^ 0x5555_5555));
    remote.assertUntouched();
  }

  @Test
  void rejectsKeyZero() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE);

    rejects(pair, REM_ACCESS_ERR, write(pair.client().memory(8).fill(1), remote.address(), 0));
    remote.assertUntouched();
  }

  @Test
  void rejectsTheLocalKeyOfARegionWithoutRemoteRights() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        write(pair.client().memory(8).fill(1), remote.address(), remote.lkey()));
    remote.assertUntouched();
  }

  @Test
  void rejectsTheKeyOfARegionThatIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    SendWorkRequest request = Requests.write(1, remote, pair.client().memory(SIZE).fill(1));

    remote.region().close();

    rejects(pair, REM_ACCESS_ERR, request.signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsAReadBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, read(local, remote.address() + 1, remote.rkey()));
    local.assertUntouched();
  }

  @Test
  void rejectsAReadBeforeTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, read(local, remote.address() - 1, remote.rkey()));
    local.assertUntouched();
  }

  @Test
  void rejectsAReadThatIsLongerThanTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE + 1);

    rejects(pair, REM_ACCESS_ERR, read(local, remote.address(), remote.rkey()));
    local.assertUntouched();
  }

  @Test
  void rejectsAWriteBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        write(pair.client().memory(SIZE).fill(1), remote.address() + 1, remote.rkey()));
    remote.assertUntouched();
  }

  @Test
  void rejectsAWriteBeforeTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        write(pair.client().memory(SIZE).fill(1), remote.address() - 1, remote.rkey()));
    remote.assertUntouched();
  }

  @Test
  void rejectsAnAddressThatOverflows() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, read(local, -1L, remote.rkey()));
    local.assertUntouched();
  }

  @Test
  void rejectsAnAddressFarOff() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        write(pair.client().memory(8).fill(1), remote.address() + (1L << 32), remote.rkey()));
    remote.assertUntouched();
  }

  @Test
  void rejectsAReadOfARegionThatMayOnlyBeWritten() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE).fill(1);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, Requests.read(1, remote, local).signaled());
    local.assertUntouched();
  }

  @Test
  void rejectsAWriteToARegionThatMayOnlyBeRead() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_READ);

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.write(1, remote, pair.client().memory(SIZE).fill(1)).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory remote = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ));

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.write(1, remote, pair.client().memory(SIZE).fill(1)).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsARegionThatOnlyAnotherConnectionWasGiven() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.connected();
    TestMemory remote = other.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_ACCESS_ERR, Requests.read(1, remote, local).signaled());
    local.assertUntouched();
  }

  @Test
  void rejectsReadsOnAQueuePairThatDoesNotAllowThem() {
    EndpointPair pair = tck.setup().access(REMOTE_WRITE).byHand();
    TestMemory remote = pair.server().open(SIZE).fill(1);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_INV_REQ_ERR, Requests.read(1, remote, local).signaled());
    local.assertUntouched();
  }

  @Test
  void rejectsWritesOnAQueuePairThatDoesNotAllowThem() {
    EndpointPair pair = tck.setup().access(REMOTE_READ).byHand();
    TestMemory remote = pair.server().open(SIZE);

    rejects(
        pair,
        REM_INV_REQ_ERR,
        Requests.write(1, remote, pair.client().memory(SIZE).fill(1)).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsWritesAfterTheRightWasTakenFromTheQueuePair() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);

    pair.server().queuePair().modify(new QueuePairAttributes().access(Set.of()));

    rejects(
        pair,
        REM_INV_REQ_ERR,
        Requests.write(1, remote, pair.client().memory(SIZE).fill(1)).signaled());
    remote.assertUntouched();
  }

  @Test
  void rejectsReadsIfThePeerServesNone() {
    EndpointPair pair = tck.setup().readAtomic(1, 0).byHand();
    TestMemory remote = pair.server().open(SIZE);
    TestMemory local = pair.client().open(SIZE);

    rejects(pair, REM_INV_REQ_ERR, Requests.read(1, remote, local).signaled());
  }

  @Test
  void rejectsAWriteWithImmediateOutOfRange() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);
    pair.server().post(Requests.receive(9));
    TestMemory from = pair.client().memory(SIZE + 1).fill(1);

    rejects(pair, REM_ACCESS_ERR, Requests.writeWithImmediate(1, 5, remote, from).signaled());

    // The HCA may or may not have consumed the receive by then.
    WorkCompletion received = pair.server().received().next();
    assertThat(received.workRequestId()).isEqualTo(9);
    assertThat(received.status()).isIn(REM_ACCESS_ERR, WR_FLUSH_ERR);
    remote.assertUntouched();
  }

  @Test
  void rejectsEveryUnsignaledRequestWithACompletion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(SIZE);

    pair.client().post(Requests.write(1, remote, pair.client().memory(SIZE + 1)));

    pair.client().sent().expectError(1, REM_ACCESS_ERR);
  }

  @Test
  void takesNothingFromOtherConnectionsWhenItRejects() {
    EndpointPair pair = tck.connected();
    ProtectionDomain shared = pair.server().domain();
    EndpointPair other = tck.setup().serverDomain(shared).connected();
    TestMemory remote = pair.server().open(SIZE);
    rejects(pair, REM_ACCESS_ERR, read(pair.client().open(SIZE), remote.address(), 1));

    other.client().post(Requests.write(2, remote, other.client().memory(SIZE).fill(1)).signaled());

    other.client().sent().expectSuccess(2, CompletionOpcode.RDMA_WRITE);
    remote.assertHolds(1);
  }

  /** Asserts that a request fails with a status and that both ends go to ERR. */
  private static void rejects(EndpointPair pair, CompletionStatus status, SendWorkRequest request) {
    pair.client().post(request);
    pair.client().sent().expectError(request.id(), status);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  private static SendWorkRequest read(TestMemory into, long address, int key) {
    return new SendWorkRequest()
        .id(1)
        .read(address, key)
        .signaled()
        .buffer(into.address(), into.length(), into.lkey());
  }

  private static SendWorkRequest write(TestMemory from, long address, int key) {
    return new SendWorkRequest()
        .id(1)
        .write(address, key)
        .signaled()
        .buffer(from.address(), from.length(), from.lkey());
  }
}
