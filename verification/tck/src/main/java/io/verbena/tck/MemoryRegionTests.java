// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_ATOMIC;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.Capability.REREGISTRATION;
import static io.verbena.verbs.CompletionOpcode.RDMA_READ;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Memory regions: which memory can be registered, and the keys and their validity. */
abstract class MemoryRegionTests extends VerbsTests {
  MemoryRegionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void tellsWhatItWasRegisteredWith() {
    ProtectionDomain domain = tck.domain();
    Set<Access> access = EnumSet.of(LOCAL_WRITE, REMOTE_READ);

    MemoryRegion region = tck.memory(domain, 100, access).region();

    assertThat(region.protectionDomain()).isSameAs(domain);
    assertThat(region.length()).isEqualTo(100);
    assertThat(region.access()).isEqualTo(access);
  }

  @Test
  void coversTheBufferFromPositionToLimit() {
    ProtectionDomain domain = tck.domain();
    ByteBuffer buffer = TestMemory.allocate(100).position(10).limit(40);

    assertThat(tck.own(domain.register(buffer, Set.of())).length()).isEqualTo(30);
  }

  @Test
  void staysAsItIsWhenPositionAndLimitAreChanged() {
    EndpointPair pair = tck.connected();
    ByteBuffer buffer = TestMemory.allocate(64);
    buffer.put(10, (byte) 5).position(10).limit(11);
    MemoryRegion region = tck.own(pair.server().domain().register(buffer, EnumSet.of(REMOTE_READ)));
    buffer.position(0).limit(0);
    TestMemory into = pair.client().sink(1);

    pair.client()
        .post(
            new SendWorkRequest()
                .id(1)
                .read(region.address(), region.rkey())
                .signaled()
                .buffer(into.address(), 1, into.lkey()));

    pair.client().sent().expectSuccess(1, RDMA_READ);
    assertThat(into.getByte(0)).isEqualTo((byte) 5);
  }

  @Test
  void refusesHeapMemory() {
    ProtectionDomain domain = tck.domain();

    expectFailure(INVALID, () -> domain.register(ByteBuffer.allocate(64), Set.of()));
  }

  @Test
  void refusesAnEmptyBuffer() {
    ProtectionDomain domain = tck.domain();
    ByteBuffer empty = TestMemory.allocate(64).limit(0);

    expectFailure(INVALID, () -> domain.register(empty, Set.of()));
  }

  @Test
  void refusesLocalWriteToReadOnlyMemory() {
    ProtectionDomain domain = tck.domain();
    ByteBuffer readOnly = TestMemory.allocate(64).asReadOnlyBuffer();

    expectFailure(INVALID, () -> domain.register(readOnly, EnumSet.of(LOCAL_WRITE)));
  }

  @Test
  void registersReadOnlyMemoryThatIsOnlyRead() {
    ProtectionDomain domain = tck.domain();
    ByteBuffer readOnly = TestMemory.allocate(64).asReadOnlyBuffer();

    assertThat(tck.own(domain.register(readOnly, EnumSet.of(REMOTE_READ))).length()).isEqualTo(64);
  }

  @Test
  void refusesRemoteWriteWithoutLocalWrite() {
    ProtectionDomain domain = tck.domain();

    expectFailure(
        INVALID, () -> domain.register(TestMemory.allocate(64), EnumSet.of(REMOTE_WRITE)));
  }

  @Test
  void refusesRemoteAtomicWithoutLocalWrite() {
    ProtectionDomain domain = tck.domain();

    expectFailure(
        INVALID, () -> domain.register(TestMemory.allocate(64), EnumSet.of(REMOTE_ATOMIC)));
  }

  @Test
  void hasNoRemoteKeyWithoutARemoteRight() {
    assertThat(tck.memory(tck.domain(), 64, EnumSet.of(LOCAL_WRITE)).rkey()).isZero();
  }

  @Test
  void hasARemoteKeyWithARemoteRight() {
    assertThat(tck.memory(tck.domain(), 64, EnumSet.of(REMOTE_READ)).rkey()).isNotZero();
  }

  @Test
  void hasKeysThatNoOtherRegionHas() {
    ProtectionDomain domain = tck.domain();
    Set<Integer> lkeys = new HashSet<>();
    Set<Integer> rkeys = new HashSet<>();

    for (int i = 0; i < 64; i++) {
      TestMemory memory = tck.memory(domain, 64, EnumSet.of(REMOTE_READ));
      lkeys.add(memory.lkey());
      rkeys.add(memory.rkey());
    }

    assertThat(lkeys).hasSize(64);
    assertThat(rkeys).hasSize(64);
  }

  @Test
  void hasRemoteKeysThatDoNotFollowFromOneAnother() {
    ProtectionDomain domain = tck.domain();
    Set<Integer> steps = new HashSet<>();
    int last = tck.memory(domain, 64, EnumSet.of(REMOTE_READ)).rkey();

    for (int i = 0; i < 64; i++) {
      int next = tck.memory(domain, 64, EnumSet.of(REMOTE_READ)).rkey();
      steps.add(next - last);
      last = next;
    }

    assertThat(steps).as("steps from key to key").hasSizeGreaterThan(16);
  }

  @Test
  void registersTheSameMemoryTwice() {
    EndpointPair pair = tck.connected();
    ByteBuffer buffer = TestMemory.allocate(8).put(0, (byte) 9);
    EnumSet<Access> access = EnumSet.of(REMOTE_READ);
    MemoryRegion first = tck.own(pair.server().domain().register(buffer, access));
    MemoryRegion second = tck.own(pair.server().domain().register(buffer, access));
    TestMemory into = pair.client().sink(8);

    first.close();

    pair.client()
        .post(
            new SendWorkRequest()
                .id(1)
                .read(second.address(), second.rkey())
                .signaled()
                .buffer(into.address(), 8, into.lkey()));
    pair.client().sent().expectSuccess(1, RDMA_READ);
    assertThat(into.getByte(0)).isEqualTo((byte) 9);
  }

  @Test
  void hasDeadKeysOnceItIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(64);
    TestMemory into = pair.client().sink(64);
    var request = Requests.read(1, remote, into).signaled();

    remote.region().close();

    pair.client().post(request);
    pair.client().sent().expectError(1, REM_ACCESS_ERR);
    into.assertUntouched();
  }

  @Test
  void mayBeClosedTwice() {
    ProtectionDomain domain = tck.domain();
    MemoryRegion region = tck.memory(domain, 64, Set.of()).region();

    region.close();
    region.close();

    domain.close();
  }

  @Test
  void takesNewRightsWhenItIsReregistered() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(64, LOCAL_WRITE).fill(3);
    TestMemory into = pair.client().sink(64);
    if (!tck.supports(REREGISTRATION)) {
      expectFailure(
          NOT_SUPPORTED,
          () -> remote.region().reregister(null, null, EnumSet.of(LOCAL_WRITE, REMOTE_READ)));
      return;
    }

    remote.region().reregister(null, null, EnumSet.of(LOCAL_WRITE, REMOTE_READ));

    assertThat(remote.region().access()).isEqualTo(EnumSet.of(LOCAL_WRITE, REMOTE_READ));
    assertThat(remote.region().length()).isEqualTo(64);
    pair.client().post(Requests.read(1, remote, into).signaled());
    pair.client().sent().expectSuccess(1, RDMA_READ);
    into.assertHolds(3);
  }

  @Test
  void takesNewMemoryWhenItIsReregistered() {
    TestMemory memory = tck.memory(tck.domain(), 64, EnumSet.of(REMOTE_READ));
    if (!tck.supports(REREGISTRATION)) {
      expectFailure(
          NOT_SUPPORTED, () -> memory.region().reregister(null, TestMemory.allocate(128), null));
      return;
    }

    memory.region().reregister(null, TestMemory.allocate(128), null);

    assertThat(memory.region().length()).isEqualTo(128);
    assertThat(memory.region().access()).isEqualTo(EnumSet.of(REMOTE_READ));
  }

  @Test
  void movesToAnotherDomainWhenItIsReregistered() {
    ProtectionDomain first = tck.domain();
    ProtectionDomain second = tck.domain();
    MemoryRegion region = tck.memory(first, 64, Set.of()).region();
    if (!tck.supports(REREGISTRATION)) {
      expectFailure(NOT_SUPPORTED, () -> region.reregister(second, null, null));
      return;
    }

    region.reregister(second, null, null);

    assertThat(region.protectionDomain()).isSameAs(second);
    first.close();
    expectFailure(BUSY, second::close);
  }

  @Test
  void keepsTheOldMemoryWhenReregistrationIsRefused() {
    TestMemory memory = tck.memory(tck.domain(), 64, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));
    boolean supported = tck.supports(REREGISTRATION);

    expectFailure(
        supported ? INVALID : NOT_SUPPORTED,
        () -> memory.region().reregister(null, null, EnumSet.of(REMOTE_WRITE)));
    expectFailure(
        supported ? INVALID : NOT_SUPPORTED,
        () -> memory.region().reregister(null, ByteBuffer.allocate(8), null));

    assertThat(memory.region().access()).isEqualTo(EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));
    assertThat(memory.region().length()).isEqualTo(64);
  }
}
