// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_ATOMIC;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rules that hold for memory windows of both types. */
abstract class MemoryWindowTests extends VerbsTests {
  static final int SIZE = 256;

  @RegisterExtension final RequiresSupport windows;

  private final MemoryWindowType type;

  MemoryWindowTests(VerbsTck provider, MemoryWindowType type) {
    super(provider);
    this.type = type;
    Capability capability =
        type == MemoryWindowType.TYPE_1
            ? Capability.MEMORY_WINDOW_TYPE_1
            : Capability.MEMORY_WINDOW_TYPE_2B;
    windows = RequiresSupport.of(this, capability, this::assertRefused);
  }

  private void assertRefused() {
    ProtectionDomain domain = tck.domain();
    expectFailure(NOT_SUPPORTED, () -> domain.allocateMemoryWindow(type).close());
  }

  /** Allocates a window of the type under test in the domain of an endpoint. */
  final WindowBinder windowOf(Endpoint end) {
    return WindowBinder.of(type, end);
  }

  /** Registers memory to which windows can be bound, and which peers cannot access otherwise. */
  static TestMemory bindable(Endpoint end) {
    return end.memory(SIZE, LOCAL_WRITE, MW_BIND);
  }

  /** Returns memory of the client for a small WRITE. */
  static TestMemory any(EndpointPair pair) {
    return pair.client().memory(8).fill(9);
  }

  /** Asserts that a bind fails when it is posted, and does not change the queue pair's state. */
  static void refuses(VerbsError error, WindowBinder window, SendWorkRequest bind) {
    expectBadPost(error, bind.id(), () -> window.post(bind));
    assertThat(window.end().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  /** Asserts that a request of the client fails with a status, and that both ends go to ERR. */
  static void rejects(EndpointPair pair, CompletionStatus status, SendWorkRequest request) {
    rejects(pair.client(), status, request);
    pair.server().awaitState(QueuePairState.ERR);
  }

  /** Asserts that a request of an endpoint fails with a status and moves its queue pair to ERR. */
  static void rejects(Endpoint end, CompletionStatus status, SendWorkRequest request) {
    end.post(request.signaled());
    end.sent().expectError(request.id(), status);
    end.awaitState(QueuePairState.ERR);
  }

  @Test
  void isOfItsDomainAndType() {
    ProtectionDomain domain = tck.domain();

    MemoryWindow window = tck.own(domain.allocateMemoryWindow(type));

    assertThat(window.protectionDomain()).isSameAs(domain);
    assertThat(window.type()).isEqualTo(type);
  }

  @Test
  void letsPeersReadWhatItShows() {
    EndpointPair pair = tck.connected();
    TestMemory shown = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().sink(SIZE);

    TestMemory remote = windowOf(pair.server()).show(shown, REMOTE_READ);

    pair.client().post(Requests.read(1, remote, into).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_READ);
    into.assertHolds(1);
  }

  @Test
  void letsPeersWriteWhatItShows() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory from = pair.client().memory(64).fill(1);

    TestMemory remote = windowOf(pair.server()).show(memory.part(64, 64), REMOTE_WRITE);

    pair.client().post(Requests.write(1, remote, from).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
    memory.part(0, 64).assertUntouched();
    memory.part(64, 64).assertHolds(1);
    memory.part(128, 128).assertUntouched();
  }

  @Test
  void letsPeersAddToWhatItShows() {
    if (isRefused(Capability.ATOMICS)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory shown = bindable(pair.server()).part(8, 8).putLong(0, 40);
    TestMemory result = pair.client().memory(8, LOCAL_WRITE);

    TestMemory remote = windowOf(pair.server()).show(shown, REMOTE_ATOMIC);

    pair.client().post(Requests.fetchAndAdd(1, remote, 2, result).signaled());
    pair.client().sent().expectSuccess(1, CompletionOpcode.FETCH_ADD);
    assertThat(result.getLong(0)).isEqualTo(40);
    assertThat(shown.getLong(0)).isEqualTo(42);
  }

  @Test
  void rejectsTheKeyOfAWindowThatIsNotBound() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.write(1, memory.throughWindow(window.window().rkey()), any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAReadBeyondTheWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().sink(65);
    TestMemory remote = windowOf(pair.server()).show(memory.part(64, 64), REMOTE_READ);

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.read(1, memory.part(64, 65).throughWindow(remote.rkey()), into));
    into.assertUntouched();
  }

  @Test
  void rejectsAWriteBeforeTheWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory.part(64, 64), REMOTE_WRITE);

    rejects(
        pair,
        REM_ACCESS_ERR,
        Requests.write(1, memory.part(63, 8).throughWindow(remote.rkey()), any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAReadThroughAWindowThatMayOnlyBeWritten() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().sink(SIZE);
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    rejects(pair, REM_ACCESS_ERR, Requests.read(1, remote, into));
    into.assertUntouched();
  }

  @Test
  void rejectsAWriteThroughAWindowThatMayOnlyBeRead() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_READ);

    rejects(pair, REM_ACCESS_ERR, Requests.write(1, remote, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isNoKeyForLocalRequests() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory memory = pair.client().memory(SIZE, LOCAL_WRITE, MW_BIND).fill(1);
    int key = windowOf(pair.client()).show(memory, REMOTE_READ, REMOTE_WRITE).rkey();

    rejects(
        pair.client(),
        LOC_PROT_ERR,
        new SendWorkRequest()
            .id(1)
            .write(remote.address(), remote.rkey())
            .buffer(memory.address(), 8, key));
    remote.assertUntouched();
  }

  @Test
  void isNotBoundToARegionThatDoesNotAllowIt() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_READ);

    windowOf(pair.server()).expectRefusal(memory, REMOTE_READ);
  }

  @Test
  void isNotBoundForWritingWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, MW_BIND);

    windowOf(pair.server()).expectRefusal(memory, REMOTE_WRITE);
  }

  @Test
  void isNotBoundForAtomicsWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, MW_BIND);

    windowOf(pair.server()).expectRefusal(memory, REMOTE_ATOMIC);
  }

  @Test
  void isNotBoundBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());

    window.expectRefusal(
        window
            .request(1, memory, REMOTE_READ)
            .buffer(memory.address() + 1, memory.length(), memory.lkey()));
  }

  @Test
  void isNotBoundThroughAQueuePairOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, MW_BIND));
    MemoryWindow window = tck.own(other.allocateMemoryWindow(type));

    new WindowBinder(pair.server(), window).expectRefusal(memory, REMOTE_READ);
  }

  @Test
  void hasADeadKeyOnceItIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory remote = window.show(memory, REMOTE_WRITE);

    window.window().close();

    memory.region().close();
    rejects(pair, REM_ACCESS_ERR, Requests.write(1, remote, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isNotBoundOnceItIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind = window.request(1, memory, REMOTE_READ);

    window.window().close();

    refuses(CLOSED, window, bind);
  }

  @Test
  void isNotBoundToARegionThatIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind = window.request(1, memory, REMOTE_READ);

    memory.region().close();

    refuses(CLOSED, window, bind);
  }

  @Test
  void takesOnlyRightsOfPeers() {
    EndpointPair pair = tck.connected();
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind = window.request(1, bindable(pair.server()), REMOTE_READ, LOCAL_WRITE);

    refuses(INVALID, window, bind);
  }
}
