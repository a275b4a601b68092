// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.CompletionOpcode.BIND_MW;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_QP_OP_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/**
 * Type 1 memory windows, which belong to a domain and not to a queue pair: the requirements and
 * effects of binds. Only a bind unbinds such a window.
 */
abstract class Type1WindowTests extends MemoryWindowTests {
  Type1WindowTests(VerbsTck provider) {
    super(provider, MemoryWindowType.TYPE_1);
  }

  /** Creates another connection to the server's domain. */
  private EndpointPair beside(EndpointPair pair) {
    return tck.setup().serverDomain(pair.server().domain()).connected();
  }

  // ---- access through the window

  @Test
  void isOfUseThroughEveryQueuePairOfItsDomain() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());

    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    writes(other, remote, memory);
  }

  @Test
  void outlivesTheQueuePairThatBoundIt() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    pair.server().queuePair().close();

    writes(other, remote, memory);
  }

  @Test
  void isOfNoUseInAnotherDomain() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    rejects(other, REM_ACCESS_ERR, Requests.write(1, remote, any(other)));
    memory.assertUntouched();
  }

  // ---- the window's key

  @Test
  void hasItsNextKeyAsSoonAsTheBindIsPosted() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    int before = window.window().rkey();

    window.post(window.request(1, memory, REMOTE_READ).signaled());
    int posted = window.window().rkey();
    pair.server().sent().expectSuccess(1, BIND_MW);

    assertThat(posted).isNotEqualTo(before);
    assertThat(posted >>> 8).as("its upper 24 bits").isEqualTo(before >>> 8);
    assertThat(window.window().rkey()).isEqualTo(posted);
  }

  @Test
  void isBoundInTheOrderOfTheSendQueue() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory told = pair.client().memory(8, LOCAL_WRITE);
    pair.client().post(Requests.receive(3, told));

    window.post(window.request(1, memory, REMOTE_WRITE));
    TestMemory message = pair.server().memory(8).putInt(0, window.window().rkey());
    pair.server().post(Requests.send(2, message).signaled());

    pair.client().received().expectSuccess(3, RECV);
    writes(pair, memory.throughWindow(told.getInt(0)), memory);
    pair.server().sent().expectSuccess(2, SEND);
    pair.server().sent().expectNothing();
  }

  @Test
  void showsSomethingElseWhenItIsBoundAgain() {
    EndpointPair pair = tck.connected();
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory before = window.show(first, REMOTE_WRITE);

    TestMemory after = window.show(second, REMOTE_WRITE);

    writes(pair, after, second);
    rejects(pair, REM_ACCESS_ERR, Requests.write(9, before, any(pair)));
    first.assertUntouched();
  }

  @Test
  void isBoundAgainThroughAnotherQueuePair() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory before = window.show(first, REMOTE_WRITE);

    TestMemory after = window.showThrough(other.server(), second, REMOTE_WRITE);

    writes(pair, after, second);
    rejects(pair, REM_ACCESS_ERR, Requests.write(9, before, any(pair)));
    first.assertUntouched();
  }

  @Test
  void isBoundManyTimesInARow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    int first = window.window().rkey();

    for (int i = 0; i < 256; i++) {
      window.show(memory, REMOTE_WRITE);
    }

    assertThat(window.window().rkey()).as("the key after 256 binds").isEqualTo(first);
    writes(pair, memory.throughWindow(first), memory);
  }

  @Test
  void letsNoByteThroughUnderTheOldKeyOnceItIsBoundAgain() throws InterruptedException {
    for (int round = 0; round < tck.iterations(200); round++) {
      EndpointPair pair = tck.connected();
      // One packet, because rxe checks the key with the first packet of a message only.
      int length = pair.client().device().port().activeMtu().bytes();
      TestMemory memory = pair.server().memory(length, LOCAL_WRITE, MW_BIND);
      TestMemory other = bindable(pair.server());
      WindowBinder window = windowOf(pair.server());
      TestMemory remote = window.show(memory, REMOTE_WRITE);
      TestMemory from = pair.client().memory(length).fill(1);
      new Parallel()
          .thread(
              () -> {
                SendWorkRequest write = Requests.write(1, remote, from).signaled();
                CompletionStatus last;
                do {
                  pair.client().post(write);
                  last = pair.client().sent().next().status();
                } while (last == CompletionStatus.SUCCESS);
                assertThat(last)
                    .isEqualTo(
                        tck.supports(Capability.REQUEST_STATUS) ? REM_ACCESS_ERR : WR_FLUSH_ERR);
              })
          .thread(
              () -> {
                window.showUnderFire(other, REMOTE_WRITE);
                memory.fill(5);
              })
          .run(tck.timeout());
      memory.assertHolds(5);
      other.assertUntouched();
      pair.server().queuePair().close();
      pair.client().queuePair().close();
    }
  }

  // ---- unbinding

  @Test
  void showsNothingOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    TestMemory before = window.show(memory, REMOTE_WRITE);

    window.bind(window.unbind(1, memory));

    rejects(pair, REM_ACCESS_ERR, Requests.write(9, before, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void hasAKeyThatOpensNothingOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    window.show(memory, REMOTE_WRITE);

    window.bind(window.request(1, memory.part(0, 0), REMOTE_WRITE));

    TestMemory after = memory.throughWindow(window.window().rkey());
    rejects(pair, REM_ACCESS_ERR, Requests.write(9, after, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isBoundAgainOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    window.show(memory, REMOTE_READ);
    window.bind(window.unbind(1, memory));

    TestMemory remote = window.show(memory, REMOTE_WRITE);

    writes(pair, remote, memory);
  }

  @Test
  void keepsItsRegionBusyUntilItIsBoundToAnother() {
    EndpointPair pair = tck.connected();
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    window.show(first, REMOTE_WRITE);
    expectFailure(BUSY, first.region()::close);

    window.show(second, REMOTE_WRITE);

    first.region().close();
    expectFailure(BUSY, second.region()::close);
    window.bind(window.unbind(1, second));
    second.region().close();
  }

  @Test
  void isNotInvalidatedByARequest() {
    if (isRefused(Capability.LOCAL_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);

    rejects(
        pair.server(), LOC_QP_OP_ERR, new SendWorkRequest().id(1).localInvalidate(remote.rkey()));

    writes(other, remote, memory);
  }

  @Test
  void isNotInvalidatedByAMessage() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory remote = windowOf(pair.server()).show(memory, REMOTE_WRITE);
    pair.server().post(Requests.receive(2));

    pair.client().post(new SendWorkRequest(0).id(1).sendWithInvalidate(remote.rkey()).signaled());

    pair.server().received().expectError(2, REM_INV_REQ_ERR);
    pair.client().sent().expectSuccess(1, SEND);
    writes(other, remote, memory);
  }

  // ---- binds that fail at completion

  @Test
  void goesOnShowingWhatItShowedWhenABindFails() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory unbindable = pair.server().memory(SIZE, LOCAL_WRITE);
    WindowBinder window = windowOf(pair.server());
    TestMemory remote = window.show(memory, REMOTE_WRITE);

    window.expectRefusal(unbindable, REMOTE_WRITE);

    writes(other, remote, memory);
  }

  @Test
  void isNotBoundByWhatIsFlushed() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    window.post(window.request(1, memory, REMOTE_WRITE));

    pair.server().sent().expectError(1, WR_FLUSH_ERR);
    TestMemory remote = memory.throughWindow(window.window().rkey());
    rejects(other, REM_ACCESS_ERR, Requests.write(9, remote, any(other)));
    memory.assertUntouched();
  }

  // ---- binds that are refused at the post

  @Test
  void isNotBoundByARequestThatIsPosted() {
    EndpointPair pair = tck.connected();
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind = window.request(1, bindable(pair.server()), REMOTE_READ);

    expectBadPost(INVALID, 1, () -> pair.server().post(bind));
  }

  @Test
  void isOfTheTypeThatTheVerbBinds() {
    if (!tck.supports(Capability.MEMORY_WINDOW_TYPE_2B)) {
      return;
    }
    EndpointPair pair = tck.connected();
    SendWorkRequest bind =
        WindowBinder.type2(pair.server()).request(1, bindable(pair.server()), REMOTE_READ);

    refuses(pair, bind);
  }

  @Test
  void isBoundByNoOtherRequest() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE);

    refuses(pair, Requests.send(1, memory));
  }

  @Test
  void isBoundByOneRequestAlone() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    SendWorkRequest bind = windowOf(pair.server()).request(1, memory, REMOTE_READ);

    refuses(pair, Requests.linked(bind, Requests.send(2, memory)));
  }

  @Test
  void takesNoMoreThanOneBuffer() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    SendWorkRequest bind =
        new SendWorkRequest(2).id(1).bind(window.window(), memory.region(), REMOTE_READ.bit());
    bind.buffers().add(memory.address(), 8, memory.lkey());
    bind.buffers().add(memory.address() + 8, 8, memory.lkey());

    refuses(pair, bind);
  }

  @Test
  void isNotBoundToARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, MW_BIND));

    refuses(pair, windowOf(pair.server()).request(1, memory, REMOTE_READ));
  }

  @Test
  void keepsItsKeyWhenABindIsNotPosted() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTR);
    WindowBinder window = windowOf(end);
    int key = window.window().rkey();
    SendWorkRequest bind = window.request(1, bindable(end), REMOTE_READ);

    expectBadPost(INVALID, 1, () -> end.queuePair().bindMemoryWindow(bind));

    assertThat(window.window().rkey()).isEqualTo(key);
  }

  @Test
  void keepsItsKeyWhenTheQueueIsFull() {
    EndpointPair pair = tck.setup().sends(2).connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = windowOf(pair.server());
    int capacity = pair.server().queuePair().capabilities().maxSend();
    for (int i = 0; i < capacity; i++) {
      window.post(window.request(i, memory, REMOTE_READ));
    }
    int key = window.window().rkey();
    SendWorkRequest bind = window.request(99, memory, REMOTE_READ);

    expectBadPost(NO_MEMORY, 99, () -> pair.server().queuePair().bindMemoryWindow(bind));

    assertThat(window.window().rkey()).isEqualTo(key);
  }

  @Test
  void isNotBoundThroughADatagramQueuePair() {
    if (isRefused(QueuePairType.UD)) {
      return;
    }
    Endpoint end = tck.setup().type(QueuePairType.UD).endpointIn(QueuePairState.RTS);
    SendWorkRequest bind = windowOf(end).request(1, bindable(end), REMOTE_READ);

    expectBadPost(NOT_SUPPORTED, 1, () -> end.queuePair().bindMemoryWindow(bind));
  }

  @Test
  void isBoundThroughAnUnreliableConnection() {
    if (isRefused(QueuePairType.UC)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair unreliable =
        tck.setup().type(QueuePairType.UC).serverDomain(pair.server().domain()).byHand();
    TestMemory memory = bindable(pair.server());

    TestMemory remote =
        windowOf(pair.server()).showThrough(unreliable.server(), memory, REMOTE_WRITE);

    writes(pair, remote, memory);
  }

  /** Asserts that the client can write the memory through the window. */
  private static void writes(EndpointPair pair, TestMemory remote, TestMemory shown) {
    TestMemory from = pair.client().memory(shown.length()).fill(1);
    pair.client().post(Requests.write(5, remote, from).signaled());
    pair.client().sent().expectSuccess(5, RDMA_WRITE);
    shown.assertHolds(1);
  }

  /** Asserts that the verb that binds type 1 windows refuses a request. */
  private static void refuses(EndpointPair pair, SendWorkRequest request) {
    expectBadPost(INVALID, request.id(), () -> pair.server().queuePair().bindMemoryWindow(request));
    assertThat(pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }
}
