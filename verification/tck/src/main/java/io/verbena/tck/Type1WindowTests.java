package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_ATOMIC;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.Capability.MEMORY_WINDOW_TYPE_1;
import static io.verbena.verbs.CompletionOpcode.BIND_MW;
import static io.verbena.verbs.CompletionOpcode.FETCH_ADD;
import static io.verbena.verbs.CompletionOpcode.RDMA_READ;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.LOC_QP_OP_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Memory windows of type 1, which belong to a domain and to no queue pair: what a bind asks for,
 * what it changes and when, and that nothing but a bind unbinds them.
 */
abstract class Type1WindowTests extends VerbsTests {
  private static final int SIZE = 256;

  @RegisterExtension
  final RequiresSupport windows = new RequiresSupport(this, MEMORY_WINDOW_TYPE_1, this::refusesToAllocate);

  Type1WindowTests(VerbsTck provider) {
    super(provider);
  }

  private void refusesToAllocate() {
    ProtectionDomain domain = tck.domain();
    expectFailure(
        NOT_SUPPORTED, () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_1).close());
  }

  /** Memory to which windows can be bound, and which peers cannot reach otherwise. */
  private static TestMemory bindable(Endpoint end) {
    return end.memory(SIZE, LOCAL_WRITE, MW_BIND);
  }

  /** Another connection to the same domain of the server. */
  private EndpointPair beside(EndpointPair pair) {
    return tck.setup().serverDomain(pair.server().domain()).connected();
  }

  // ---- what it shows, and to whom

  @Test
  void isOfItsDomainAndType() {
    ProtectionDomain domain = tck.domain();

    MemoryWindow window = tck.own(domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));

    assertThat(window.protectionDomain()).isSameAs(domain);
    assertThat(window.type()).isEqualTo(MemoryWindowType.TYPE_1);
  }

  @Test
  void letsPeersReadWhatItShows() {
    EndpointPair pair = tck.connected();
    TestMemory shown = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().memory(SIZE, LOCAL_WRITE);

    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), shown, REMOTE_READ);

    pair.client().post(Requests.read(1, remote, into).signaled());
    pair.client().sent().expectSuccess(1, RDMA_READ);
    into.assertHolds(1);
  }

  @Test
  void letsPeersWriteWhatItShows() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory part = memory.part(64, 64);

    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), part, REMOTE_WRITE);

    pair.client().post(Requests.write(1, remote, pair.client().memory(64).fill(1)).signaled());
    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    memory.part(0, 64).assertUntouched();
    part.assertHolds(1);
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

    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), shown, REMOTE_ATOMIC);

    pair.client().post(Requests.fetchAndAdd(1, remote, 2, result).signaled());
    pair.client().sent().expectSuccess(1, FETCH_ADD);
    assertThat(shown.getLong(0)).isEqualTo(42);
  }

  @Test
  void isOfUseThroughEveryQueuePairOfItsDomain() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());

    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);

    writes(other, remote, memory);
  }

  @Test
  void outlivesTheQueuePairThatBoundIt() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);

    pair.server().queuePair().close();

    writes(other, remote, memory);
  }

  @Test
  void isOfNoUseInAnotherDomain() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);

    rejects(other, REM_ACCESS_ERR, Requests.write(1, remote, any(other)));
    memory.assertUntouched();
  }

  @Test
  void rejectsTheKeyOfAWindowThatIsNotBound() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    int key = Type1Window.of(pair.server()).window().rkey();

    rejects(pair, REM_ACCESS_ERR, Requests.write(1, memory.under(key), any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAWriteBeforeTheWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory part = memory.part(64, 64);
    int key = Type1Window.of(pair.server()).show(pair.server(), part, REMOTE_WRITE).rkey();

    rejects(pair, REM_ACCESS_ERR, Requests.write(1, memory.part(63, 8).under(key), any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAReadBeyondTheWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().memory(65, LOCAL_WRITE);
    TestMemory part = memory.part(64, 64);
    int key = Type1Window.of(pair.server()).show(pair.server(), part, REMOTE_READ).rkey();

    rejects(pair, REM_ACCESS_ERR, Requests.read(1, memory.part(64, 65).under(key), into));
    into.assertUntouched();
  }

  @Test
  void rejectsAWriteThroughAWindowThatMayOnlyBeRead() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_READ);

    rejects(pair, REM_ACCESS_ERR, Requests.write(1, remote, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void rejectsAReadThroughAWindowThatMayOnlyBeWritten() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server()).fill(1);
    TestMemory into = pair.client().memory(SIZE, LOCAL_WRITE);
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);

    rejects(pair, REM_ACCESS_ERR, Requests.read(1, remote, into));
    into.assertUntouched();
  }

  @Test
  void isNoKeyForLocalRequests() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    TestMemory memory = bindable(pair.client()).fill(1);
    int key =
        Type1Window.of(pair.client()).show(pair.client(), memory, REMOTE_READ, REMOTE_WRITE).rkey();

    rejects(
        pair.client(),
        LOC_PROT_ERR,
        new SendWorkRequest()
            .id(1)
            .write(remote.address(), remote.rkey())
            .buffer(memory.address(), 8, key));
    remote.assertUntouched();
  }

  // ---- its key

  @Test
  void hasItsNextKeyAsSoonAsTheBindIsPosted() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    int before = window.window().rkey();

    pair.server().queuePair().bindMemoryWindow(window.request(1, memory, REMOTE_READ).signaled());
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
    Type1Window window = Type1Window.of(pair.server());
    TestMemory told = pair.client().memory(8, LOCAL_WRITE);
    pair.client().post(Requests.receive(3, told));

    pair.server().queuePair().bindMemoryWindow(window.request(1, memory, REMOTE_WRITE));
    TestMemory message = pair.server().memory(8).putInt(0, window.window().rkey());
    pair.server().post(Requests.send(2, message).signaled());

    pair.client().received().expectSuccess(3, RECV);
    writes(pair, memory.under(told.getInt(0)), memory);
    pair.server().sent().expectSuccess(2, SEND);
    pair.server().sent().expectNothing();
  }

  @Test
  void showsSomethingElseWhenItIsBoundAgain() {
    EndpointPair pair = tck.connected();
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    TestMemory before = window.show(pair.server(), first, REMOTE_WRITE);

    TestMemory after = window.show(pair.server(), second, REMOTE_WRITE);

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
    Type1Window window = Type1Window.of(pair.server());
    TestMemory before = window.show(pair.server(), first, REMOTE_WRITE);

    TestMemory after = window.show(other.server(), second, REMOTE_WRITE);

    writes(pair, after, second);
    rejects(pair, REM_ACCESS_ERR, Requests.write(9, before, any(pair)));
    first.assertUntouched();
  }

  @Test
  void isBoundManyTimesInARow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    int first = window.window().rkey();

    for (int i = 0; i < 256; i++) {
      window.show(pair.server(), memory, REMOTE_WRITE);
    }

    assertThat(window.window().rkey()).as("the key after 256 binds").isEqualTo(first);
    writes(pair, memory.under(first), memory);
  }

  @Test
  void letsNoByteThroughUnderTheOldKeyOnceItIsBoundAgain() throws InterruptedException {
    for (int round = 0; round < tck.rounds(200); round++) {
      EndpointPair pair = tck.connected();
      // One packet: rxe looks at the key with the first one of a message only.
      int length = pair.client().device().port().activeMtu().bytes();
      TestMemory memory = pair.server().memory(length, LOCAL_WRITE, MW_BIND);
      TestMemory other = bindable(pair.server());
      Type1Window window = Type1Window.of(pair.server());
      TestMemory remote = window.show(pair.server(), memory, REMOTE_WRITE);
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
                assertThat(last).isEqualTo(REM_ACCESS_ERR);
              })
          .thread(
              () -> {
                window.show(pair.server(), other, REMOTE_WRITE);
                memory.fill(5);
              })
          .run(tck.patience());
      memory.assertHolds(5);
      other.assertUntouched();
      pair.server().queuePair().close();
      pair.client().queuePair().close();
    }
  }

  // ---- how it is unbound

  @Test
  void showsNothingOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    TestMemory before = window.show(pair.server(), memory, REMOTE_WRITE);

    window.bind(pair.server(), window.nothing(1, memory));

    rejects(pair, REM_ACCESS_ERR, Requests.write(9, before, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void hasAKeyThatOpensNothingOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    window.show(pair.server(), memory, REMOTE_WRITE);

    window.bind(pair.server(), window.request(1, memory.part(0, 0), REMOTE_WRITE));

    TestMemory after = memory.under(window.window().rkey());
    rejects(pair, REM_ACCESS_ERR, Requests.write(9, after, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isBoundAgainOnceItIsBoundToNothing() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    window.show(pair.server(), memory, REMOTE_READ);
    window.bind(pair.server(), window.nothing(1, memory));

    TestMemory remote = window.show(pair.server(), memory, REMOTE_WRITE);

    writes(pair, remote, memory);
  }

  @Test
  void keepsItsRegionBusyUntilItIsBoundToAnother() {
    EndpointPair pair = tck.connected();
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    window.show(pair.server(), first, REMOTE_WRITE);
    expectFailure(BUSY, first.region()::close);

    window.show(pair.server(), second, REMOTE_WRITE);

    first.region().close();
    expectFailure(BUSY, second.region()::close);
    window.bind(pair.server(), window.nothing(1, second));
    second.region().close();
  }

  @Test
  void hasADeadKeyOnceItIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    TestMemory remote = window.show(pair.server(), memory, REMOTE_WRITE);

    window.window().close();

    memory.region().close();
    rejects(pair, REM_ACCESS_ERR, Requests.write(1, remote, any(pair)));
    memory.assertUntouched();
  }

  @Test
  void isNotInvalidatedByARequest() {
    if (isRefused(Capability.LOCAL_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);

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
    TestMemory remote = Type1Window.of(pair.server()).show(pair.server(), memory, REMOTE_WRITE);
    pair.server().post(Requests.receive(2));

    pair.client().post(new SendWorkRequest(0).id(1).sendWithInvalidate(remote.rkey()).signaled());

    pair.server().received().expectError(2, REM_INV_REQ_ERR);
    pair.client().sent().expectSuccess(1, SEND);
    writes(other, remote, memory);
  }

  // ---- what fails when it is done

  @Test
  void isNotBoundToARegionThatDoesNotAllowIt() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, LOCAL_WRITE, REMOTE_READ);

    Type1Window.of(pair.server()).expectRefusal(pair.server(), memory, REMOTE_READ);
  }

  @Test
  void isNotBoundForWritingWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, MW_BIND);

    Type1Window.of(pair.server()).expectRefusal(pair.server(), memory, REMOTE_WRITE);
  }

  @Test
  void isNotBoundForAtomicsWithoutLocalWrite() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, MW_BIND);

    Type1Window.of(pair.server()).expectRefusal(pair.server(), memory, REMOTE_ATOMIC);
  }

  @Test
  void isNotBoundBeyondTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());

    window.expectRefusal(
        pair.server(),
        window
            .request(1, memory, REMOTE_READ)
            .buffer(memory.address() + 1, memory.length(), memory.lkey()));
  }

  @Test
  void isNotBoundThroughAQueuePairOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, MW_BIND));
    Type1Window window =
        new Type1Window(tck.own(other.allocateMemoryWindow(MemoryWindowType.TYPE_1)));

    window.expectRefusal(pair.server(), memory, REMOTE_READ);
  }

  @Test
  void goesOnShowingWhatItShowedWhenABindFails() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    TestMemory unbindable = pair.server().memory(SIZE, LOCAL_WRITE);
    Type1Window window = Type1Window.of(pair.server());
    TestMemory remote = window.show(pair.server(), memory, REMOTE_WRITE);

    window.expectRefusal(pair.server(), unbindable, REMOTE_WRITE);

    writes(other, remote, memory);
  }

  @Test
  void isNotBoundByWhatIsFlushed() {
    EndpointPair pair = tck.connected();
    EndpointPair other = beside(pair);
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    pair.server().queuePair().modify(TransitionAttributes.toState(QueuePairState.ERR));

    pair.server().queuePair().bindMemoryWindow(window.request(1, memory, REMOTE_WRITE));

    pair.server().sent().expectError(1, WR_FLUSH_ERR);
    TestMemory remote = memory.under(window.window().rkey());
    rejects(other, REM_ACCESS_ERR, Requests.write(9, remote, any(other)));
    memory.assertUntouched();
  }

  // ---- what is refused at the post

  @Test
  void isNotBoundByARequestThatIsPosted() {
    EndpointPair pair = tck.connected();
    Type1Window window = Type1Window.of(pair.server());
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
        Window.of(pair.server()).request(1, bindable(pair.server()), REMOTE_READ);

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
    SendWorkRequest bind = Type1Window.of(pair.server()).request(1, memory, REMOTE_READ);

    refuses(pair, Requests.linked(bind, Requests.send(2, memory)));
  }

  @Test
  void takesNoMoreThanOneBuffer() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    SendWorkRequest bind =
        new SendWorkRequest(2).id(1).bind(window.window(), memory.region(), REMOTE_READ.bit());
    bind.buffers().add(memory.address(), 8, memory.lkey());
    bind.buffers().add(memory.address() + 8, 8, memory.lkey());

    refuses(pair, bind);
  }

  @Test
  void takesOnlyRightsOfPeers() {
    EndpointPair pair = tck.connected();
    Type1Window window = Type1Window.of(pair.server());

    refuses(pair, window.request(1, bindable(pair.server()), REMOTE_READ, LOCAL_WRITE));
  }

  @Test
  void isNotBoundToARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, MW_BIND));

    refuses(pair, Type1Window.of(pair.server()).request(1, memory, REMOTE_READ));
  }

  @Test
  void isNotBoundOnceItIsClosed() {
    EndpointPair pair = tck.connected();
    Type1Window window = Type1Window.of(pair.server());
    SendWorkRequest bind = window.request(1, bindable(pair.server()), REMOTE_READ);

    window.window().close();

    expectBadPost(CLOSED, 1, () -> pair.server().queuePair().bindMemoryWindow(bind));
  }

  @Test
  void isNotBoundToARegionThatIsClosed() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    SendWorkRequest bind = Type1Window.of(pair.server()).request(1, memory, REMOTE_READ);

    memory.region().close();

    expectBadPost(CLOSED, 1, () -> pair.server().queuePair().bindMemoryWindow(bind));
  }

  @Test
  void keepsItsKeyWhenABindIsNotPosted() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTR);
    Type1Window window = Type1Window.of(end);
    int key = window.window().rkey();
    SendWorkRequest bind = window.request(1, bindable(end), REMOTE_READ);

    expectBadPost(INVALID, 1, () -> end.queuePair().bindMemoryWindow(bind));

    assertThat(window.window().rkey()).isEqualTo(key);
  }

  @Test
  void keepsItsKeyWhenTheQueueIsFull() {
    EndpointPair pair = tck.setup().sends(2).connected();
    TestMemory memory = bindable(pair.server());
    Type1Window window = Type1Window.of(pair.server());
    int capacity = pair.server().queuePair().capabilities().maxSend();
    for (int i = 0; i < capacity; i++) {
      pair.server().queuePair().bindMemoryWindow(window.request(i, memory, REMOTE_READ));
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
    SendWorkRequest bind = Type1Window.of(end).request(1, bindable(end), REMOTE_READ);

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

    TestMemory remote = Type1Window.of(pair.server()).show(unreliable.server(), memory, REMOTE_WRITE);

    writes(pair, remote, memory);
  }

  private static TestMemory any(EndpointPair pair) {
    return pair.client().memory(8).fill(9);
  }

  /** Asserts that the client writes what the key opens. */
  private static void writes(EndpointPair pair, TestMemory remote, TestMemory shown) {
    TestMemory from = pair.client().memory(shown.length()).fill(1);
    pair.client().post(Requests.write(5, remote, from).signaled());
    pair.client().sent().expectSuccess(5, RDMA_WRITE);
    shown.assertHolds(1);
  }

  /** Asserts that a bind is refused at once, and that the queue pair goes on. */
  private static void refuses(EndpointPair pair, SendWorkRequest bind) {
    expectBadPost(INVALID, bind.id(), () -> pair.server().queuePair().bindMemoryWindow(bind));
    assertThat(pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  /** Posts a request of the client, which must end with this status, and both ends with it. */
  private static void rejects(EndpointPair pair, CompletionStatus status, SendWorkRequest request) {
    rejects(pair.client(), status, request);
    pair.server().awaitState(QueuePairState.ERR);
  }

  private static void rejects(Endpoint end, CompletionStatus status, SendWorkRequest request) {
    end.post(request.signaled());
    end.sent().expectError(request.id(), status);
    end.awaitState(QueuePairState.ERR);
  }
}
