// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Type 2B memory windows: the requirements of binds, and the accesses that a window permits. */
abstract class Type2WindowTests extends MemoryWindowTests {
  Type2WindowTests(VerbsTck provider) {
    super(provider, MemoryWindowType.TYPE_2B);
  }

  @Test
  void letsPeersWriteWithImmediate() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory shown = bindable(pair.server());
    pair.server().post(Requests.receive(2));

    TestMemory remote = windowOf(pair.server()).show(shown, REMOTE_WRITE);

    TestMemory from = pair.client().memory(SIZE).fill(1);
    pair.client().post(Requests.writeWithImmediate(1, 5, remote, from).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
    pair.server().received().expectSuccess(2, CompletionOpcode.RECV_RDMA_WITH_IMM);
    shown.assertHolds(1);
  }

  @Test
  void takesTheLow8BitsOfANewKeyAndKeepsTheOthers() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    int before = window.window().rkey();

    TestMemory remote = window.show(memory, REMOTE_READ);

    assertThat(remote.rkey() >>> 8).isEqualTo(before >>> 8);
    assertThat(remote.rkey()).isNotEqualTo(before);
  }

  @Test
  void rejectsTheKeyFromBeforeTheBind() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    int old = window.window().rkey();

    window.show(memory, REMOTE_WRITE);

    rejects(pair, REM_ACCESS_ERR, Requests.write(1, memory.throughWindow(old), any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAnAtomicThroughAWindowWithoutThatRight() {
    if (isRefused(Capability.ATOMICS)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_READ, REMOTE_WRITE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.fetchAndAdd(1, remote, 1, pair.client().memory(8, LOCAL_WRITE)));
    memory.assertUntouched();
  }

  @Test
  void doesNotGiveWhatTheQueuePairForbids() {
    EndpointPair pair = tck.setup().access(REMOTE_READ).byHand();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    rejects(pair, REM_INV_REQ_ERR, Requests.write(1, remote, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isOfUseOnlyThroughTheQueuePairThatBoundIt() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.setup().serverDomain(pair.server().domain()).connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    rejects(other, REM_ACCESS_ERR, Requests.write(1, remote, any(other)));
    memory.assertUntouched();

    pair.client().post(Requests.write(2, remote, any(pair)).signaled());
    pair.client().sent().expectSuccess(2, CompletionOpcode.RDMA_WRITE);
  }

  @Test
  void showsOverlappingPartsThroughSeveralWindows() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory whole = windowOf(pair.server()).show(memory, REMOTE_READ);
    TestMemory part = windowOf(pair.server()).show(memory.part(64, 64), REMOTE_WRITE);
    TestMemory from = pair.client().memory(64).fill(1);
    TestMemory into = pair.client().sink(SIZE);

    pair.client().post(Requests.write(1, part, from));
    pair.client().post(Requests.read(2, whole, into).signaled());

    pair.client().sent().expectSuccess(2, CompletionOpcode.RDMA_READ);
    into.part(64, 64).assertHolds(1);
    into.part(0, 64).assertUntouched();
  }

  @Test
  void isBoundInTheOrderOfTheSendQueue() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory told = pair.client().memory(8, LOCAL_WRITE);
    TestMemory message = pair.server().memory(8).putInt(0, window.nextKey());
    pair.client().post(Requests.receive(3, told));

    pair.server()
        .post(
            Requests.linked(
                window.request(1, memory, REMOTE_WRITE), Requests.send(2, message).signaled()));

    pair.client().received().expectSuccess(3, CompletionOpcode.RECV);
    pair.client()
        .post(Requests.write(4, memory.throughWindow(told.getInt(0)), any(pair)).signaled());
    pair.client().sent().expectSuccess(4, CompletionOpcode.RDMA_WRITE);
    pair.server().sent().expectSuccess(2, CompletionOpcode.SEND);
    pair.server().sent().expectNothing();
  }

  @Test
  void isBoundForReadingWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, MW_BIND).fill(1);
    TestMemory into = pair.client().sink(SIZE);

    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_READ);

    pair.client().post(Requests.read(1, remote, into).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_READ);
    into.assertHolds(1);
  }

  @Test
  void isNotBoundBeforeTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());

    window.expectRefusal(
        window
            .request(1, memory, REMOTE_READ)
            .buffer(memory.address() - 1, memory.length(), memory.lkey()));
  }

  @Test
  void isNotBoundToNothing() {
    EndpointPair pair = tck.connected();

    windowOf(pair.server()).expectRefusal(bindable(pair.server()).part(0, 0), REMOTE_READ);
  }

  @Test
  void isNotBoundWhileItIsBound() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    window.show(memory, REMOTE_READ);

    window.expectRefusal(memory, REMOTE_WRITE);
  }

  @Test
  void isNotBoundToARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, MW_BIND));

    windowOf(pair.server()).expectRefusal(memory, REMOTE_READ);
  }

  @Test
  void keepsItsRegionBusy() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory remote = window.show(memory, REMOTE_WRITE);

    expectFailure(BUSY, memory.region()::close);

    pair.client().post(Requests.write(1, remote, any(pair)).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
    window.window().close();
    memory.region().close();
  }

  @Test
  void mayBeClosedTwice() {
    ProtectionDomain domain = tck.domain();
    MemoryWindow window = tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B));

    window.close();
    window.close();

    domain.close();
  }

  @Test
  void keepsItsDomainBusy() {
    ProtectionDomain domain = tck.domain();
    tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B));

    expectFailure(BUSY, domain::close);
  }

  @Test
  void isNotAllocatedInADomainThatIsClosed() {
    ProtectionDomain domain = tck.domain();
    domain.close();

    expectFailure(CLOSED, () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B));
  }

  @Test
  void hasKeysThatNoOtherWindowHas() {
    ProtectionDomain domain = tck.domain();

    long different =
        IntStream.range(0, 64)
            .map(i -> tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)).rkey() >>> 8)
            .distinct()
            .count();

    assertThat(different).as("keys that differ in more than their low 8 bits").isEqualTo(64);
  }

  @Test
  void isNotBoundWithoutABuffer() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind =
        new SendWorkRequest()
            .id(1)
            .bind(window.window(), window.nextKey(), memory.region(), REMOTE_READ.bit());

    expectBadPost(INVALID, 1, () -> pair.server().post(bind));
  }
}
