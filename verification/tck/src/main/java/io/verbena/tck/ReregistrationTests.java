// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.Capability.REREGISTRATION;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reregistration of regions in another domain, over other memory or with other rights. */
abstract class ReregistrationTests extends VerbsTests {
  private static final int SIZE = 64;

  @RegisterExtension
  final RequiresSupport reregistration =
      RequiresSupport.of(this, REREGISTRATION, this::refusesToReregister);

  ReregistrationTests(VerbsTck provider) {
    super(provider);
  }

  private void refusesToReregister() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();
    expectFailure(NOT_SUPPORTED, () -> region.reregister(null, null, EnumSet.of(LOCAL_WRITE)));
  }

  @Test
  void takesTheRightsThatItIsNotGivenAgain() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE);
    int before = remote.rkey();

    remote.region().reregister(null, null, EnumSet.of(LOCAL_WRITE));

    assertThat(remote.rkey()).as("rkey without a remote right").isZero();
    rejectsAWrite(pair, remote.address(), before);
    remote.assertUntouched();
  }

  @Test
  void letsPeersWriteIntoTheNewMemory() {
    EndpointPair pair = tck.connected();
    TestMemory before = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE);
    ByteBuffer after = TestMemory.allocate(SIZE);
    MemoryRegion region = before.region();

    region.reregister(null, after, null);

    pair.client().post(write(pair, region.address(), region.rkey()));
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    TestMemory.of(region, after).part(0, 8).assertHolds(1);
    before.assertUntouched();
  }

  @Test
  void letsNobodyReachTheOldMemory() {
    EndpointPair pair = tck.connected();
    TestMemory before = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE);
    long address = before.address();
    int key = before.rkey();

    before.region().reregister(null, TestMemory.allocate(SIZE), null);

    rejectsAWrite(pair, address, key);
    before.assertUntouched();
  }

  @Test
  void takesTheBytesFromPositionToLimit() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();

    region.reregister(null, TestMemory.allocate(SIZE).position(10).limit(30), null);

    assertThat(region.length()).isEqualTo(20);
  }

  @Test
  void letsQueuePairsOfTheNewDomainIn() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory remote = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));

    remote.region().reregister(pair.server().domain(), null, null);

    pair.client().post(write(pair, remote.region().address(), remote.rkey()));
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void locksQueuePairsOfTheOldDomainOut() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE);

    remote.region().reregister(other, null, null);

    rejectsAWrite(pair, remote.region().address(), remote.rkey());
    remote.assertUntouched();
  }

  @Test
  void changesAllAtOnce() {
    ProtectionDomain first = tck.domain();
    ProtectionDomain second = tck.domain();
    MemoryRegion region = tck.memory(first, SIZE, Set.of()).region();

    region.reregister(second, TestMemory.allocate(2 * SIZE), EnumSet.of(REMOTE_READ));

    assertThat(region.protectionDomain()).isSameAs(second);
    assertThat(region.length()).isEqualTo(2 * SIZE);
    assertThat(region.access()).isEqualTo(EnumSet.of(REMOTE_READ));
    assertThat(region.rkey()).isNotZero();
  }

  @Test
  void isBusyWhileAWindowIsBound() {
    if (!tck.supports(Capability.MEMORY_WINDOW_TYPE_2B)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, LOCAL_WRITE, MW_BIND);
    TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);

    expectFailure(BUSY, () -> memory.region().reregister(null, null, EnumSet.of(LOCAL_WRITE)));

    assertThat(memory.region().access()).isEqualTo(EnumSet.of(LOCAL_WRITE, MW_BIND));
    pair.client().post(write(pair, remote.address(), remote.rkey()));
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void bringsAnInvalidatedRegionBackToLife() {
    if (isRefused(Capability.LOCAL_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_WRITE);
    pair.server().post(new SendWorkRequest().id(2).localInvalidate(remote.rkey()).signaled());
    pair.server().sent().expectSuccess(2, CompletionOpcode.LOCAL_INV);

    remote.region().reregister(null, null, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));

    pair.client().post(write(pair, remote.region().address(), remote.rkey()));
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void refusesToChangeNothing() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();

    expectFailure(INVALID, () -> region.reregister(null, null, null));
  }

  @Test
  void refusesTheDomainOfAnotherDevice() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();
    Device other = tck.openDevice("other");
    ProtectionDomain domain = tck.own(other.allocateProtectionDomain());

    expectFailure(INVALID, () -> region.reregister(domain, null, null));

    domain.close();
  }

  @Test
  void refusesADomainThatIsClosed() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();
    ProtectionDomain closed = tck.domain();
    closed.close();

    expectFailure(CLOSED, () -> region.reregister(closed, null, null));
  }

  @Test
  void refusesARegionThatIsClosed() {
    MemoryRegion region = tck.memory(tck.domain(), SIZE, Set.of()).region();
    region.close();

    expectFailure(CLOSED, () -> region.reregister(null, null, EnumSet.of(LOCAL_WRITE)));
  }

  private static SendWorkRequest write(EndpointPair pair, long address, int key) {
    TestMemory from = pair.client().memory(8).fill(1);
    return new SendWorkRequest()
        .id(1)
        .write(address, key)
        .signaled()
        .buffer(from.address(), from.length(), from.lkey());
  }

  private static void rejectsAWrite(EndpointPair pair, long address, int key) {
    pair.client().post(write(pair, address, key));
    pair.client().sent().expectError(1, REM_ACCESS_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }
}
