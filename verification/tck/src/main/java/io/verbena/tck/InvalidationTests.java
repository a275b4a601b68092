// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static io.verbena.verbs.Capability.LOCAL_INVALIDATE;
import static io.verbena.verbs.CompletionOpcode.LOCAL_INV;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.LOC_QP_OP_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.INVALID;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Invalidation of the keys of regions and windows by LOCAL_INV and by the peer's SEND_WITH_INV. */
abstract class InvalidationTests extends VerbsTests {
  private static final int SIZE = 256;

  @RegisterExtension
  final RequiresSupport invalidation =
      RequiresSupport.of(
          this,
          LOCAL_INVALIDATE,
          () -> UnsupportedRequests.assertRefused(LOCAL_INVALIDATE, tck.connected()));

  @RegisterExtension
  final RequiresSupport windows =
      RequiresSupport.of(
          this,
          Capability.MEMORY_WINDOW_TYPE_2B,
          () -> assertThat(tck.attributes().supports(Capability.MEMORY_WINDOW_TYPE_2B)).isFalse());

  InvalidationTests(VerbsTck provider) {
    super(provider);
  }

  private static TestMemory bindable(Endpoint end) {
    return end.memory(SIZE, LOCAL_WRITE, MW_BIND);
  }

  private static SendWorkRequest invalidate(long id, int key) {
    return new SendWorkRequest().id(id).localInvalidate(key);
  }

  // ---- LOCAL_INV

  @Test
  void killsTheKeyOfAWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);

    pair.server().post(invalidate(1, remote.rkey()).signaled());
    pair.server().sent().expectSuccess(1, LOCAL_INV);

    rejectsAWrite(pair, remote);
    memory.assertUntouched();
  }

  @Test
  void freesTheRegionOfTheWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);
    expectFailure(BUSY, memory.region()::close);

    pair.server().post(invalidate(1, remote.rkey()).signaled());
    pair.server().sent().expectSuccess(1, LOCAL_INV);

    memory.region().close();
  }

  @Test
  void letsTheWindowBeBoundAgain() {
    EndpointPair pair = tck.connected();
    TestMemory first = bindable(pair.server());
    TestMemory second = bindable(pair.server());
    WindowBinder window = WindowBinder.type2(pair.server());
    TestMemory before = window.show(first, REMOTE_WRITE);
    pair.server().post(invalidate(1, before.rkey()).signaled());
    pair.server().sent().expectSuccess(1, LOCAL_INV);

    TestMemory after = window.show(second, REMOTE_WRITE);

    assertThat(after.rkey()).isNotEqualTo(before.rkey());
    pair.client().post(Requests.write(2, after, pair.client().memory(SIZE).fill(1)).signaled());
    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    second.assertHolds(1);
    rejectsAWrite(pair, before);
    first.assertUntouched();
  }

  @Test
  void isDoneInTheOrderOfTheSendQueue() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = WindowBinder.type2(pair.server());
    int first = window.nextKey();
    SendWorkRequest again = window.request(3, memory, REMOTE_WRITE);
    int second = (first & ~0xff) | (first + 1 & 0xff);
    again
        .bind(window.window(), second, memory.region(), REMOTE_WRITE.bit())
        .buffer(memory.address(), SIZE, memory.lkey());

    pair.server()
        .post(
            Requests.linked(
                window.request(1, memory, REMOTE_READ), invalidate(2, first), again.signaled()));

    pair.server().sent().expectSuccess(3, io.verbena.verbs.CompletionOpcode.BIND_MW);
    pair.client()
        .post(
            Requests.write(4, memory.throughWindow(second), pair.client().memory(SIZE).fill(1))
                .signaled());
    pair.client().sent().expectSuccess(4, RDMA_WRITE);
    rejectsAWrite(pair, memory.throughWindow(first));
  }

  @Test
  void killsTheKeyOfARegion() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().open(SIZE);

    pair.server().post(invalidate(1, memory.rkey()).signaled());
    pair.server().sent().expectSuccess(1, LOCAL_INV);

    rejectsAWrite(pair, memory);
    memory.assertUntouched();
  }

  @Test
  void killsTheLocalKeyOfARegionToo() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.client().open(SIZE).fill(1);
    TestMemory remote = pair.server().open(SIZE);

    pair.client().post(invalidate(1, memory.lkey()).signaled());
    pair.client().sent().expectSuccess(1, LOCAL_INV);

    pair.client().post(Requests.write(2, remote, memory));
    pair.client().sent().expectError(2, LOC_PROT_ERR);
    remote.assertUntouched();
  }

  @Test
  void failsForAKeyThatThereIsNot() {
    EndpointPair pair = tck.connected();
    int key = WindowBinder.type2(pair.server()).window().rkey();

    failsLocally(pair.server(), key ^ 0x5555_5500);
  }

  @Test
  void failsForAKeyThatTheWindowHadBefore() {
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = WindowBinder.type2(pair.server());
    int before = window.window().rkey();
    TestMemory remote = window.show(memory, REMOTE_WRITE);

    failsLocally(pair.server(), before);

    assertThat(remote.rkey()).isNotEqualTo(before);
  }

  @Test
  void failsForARegionWithAWindow() {
    EndpointPair pair = tck.connected();
    TestMemory memory = pair.server().memory(SIZE, LOCAL_WRITE, MW_BIND, REMOTE_WRITE);
    WindowBinder.type2(pair.server()).show(memory, REMOTE_READ);

    failsLocally(pair.server(), memory.rkey());
  }

  @Test
  void failsForAWindowThatAnotherQueuePairHasBound() {
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.setup().serverDomain(pair.server().domain()).connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);

    failsLocally(other.server(), remote.rkey());

    pair.client().post(Requests.write(2, remote, pair.client().memory(8)).signaled());
    pair.client().sent().expectSuccess(2, RDMA_WRITE);
  }

  @Test
  void failsForARegionOfAnotherDomain() {
    EndpointPair pair = tck.connected();
    ProtectionDomain other = tck.own(tck.serverDevice().allocateProtectionDomain());
    TestMemory memory = tck.memory(other, SIZE, EnumSet.of(LOCAL_WRITE, REMOTE_WRITE));

    failsLocally(pair.server(), memory.rkey());
  }

  @Test
  void takesNoInlineData() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(8).connected();
    SendWorkRequest request = invalidate(1, 1).inline(ByteBuffer.allocate(8));

    expectBadPost(INVALID, 1, () -> pair.client().post(request));
  }

  // ---- SEND_WITH_INV

  @Test
  void killsAWindowWithAMessageBeforeItIsReceived() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = WindowBinder.type2(pair.server());
    TestMemory remote = window.show(memory, REMOTE_WRITE);
    TestMemory into = pair.server().memory(SIZE, LOCAL_WRITE);
    pair.server().post(Requests.receive(2, into));

    pair.client().post(sendWithInvalidate(1, remote.rkey(), pair.client().memory(8).fill(3)));

    pair.client().sent().expectSuccess(1, SEND);
    WorkCompletion received = pair.server().received().expectSuccess(2, RECV);
    assertThat(received.byteLength()).isEqualTo(8);
    into.part(0, 8).assertHolds(3);
    rejectsAWrite(pair, remote);
    memory.assertUntouched();
    memory.region().close();
  }

  @Test
  void tellsTheReceiverWhichKeyItKilled() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);
    pair.server().post(Requests.receive(2));

    pair.client().post(sendWithInvalidate(1, remote.rkey()));

    WorkCompletion received = pair.server().received().expectSuccess(2, RECV);
    assertThat(received.flags() & WorkCompletion.WITH_INV)
        .as("the flag WITH_INV")
        .isEqualTo(WorkCompletion.WITH_INV);
    assertThat(received.hasImmediate()).isFalse();
    assertThat(received.invalidatedKey()).isEqualTo(remote.rkey());
  }

  @Test
  void letsTheWindowBeBoundAgainAfterAMessage() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory memory = bindable(pair.server());
    WindowBinder window = WindowBinder.type2(pair.server());
    TestMemory before = window.show(memory, REMOTE_WRITE);
    pair.server().post(Requests.receive(2));
    pair.client().post(sendWithInvalidate(1, before.rkey()));
    pair.server().received().expectSuccess(2, RECV);
    pair.client().sent().expectSuccess(1, SEND);

    TestMemory after = window.show(memory, REMOTE_WRITE);

    pair.client().post(Requests.write(3, after, pair.client().memory(SIZE).fill(1)).signaled());
    pair.client().sent().expectSuccess(3, RDMA_WRITE);
    memory.assertHolds(1);
  }

  @Test
  void failsAtTheReceiverForAKeyThatThereIsNot() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    int key = WindowBinder.type2(pair.server()).window().rkey();

    failsAtTheReceiver(pair, key ^ 0x5555_5500);
  }

  @Test
  void failsAtTheReceiverForAWindowOfAnotherConnection() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.setup().serverDomain(pair.server().domain()).connected();
    TestMemory memory = bindable(other.server());
    TestMemory remote = WindowBinder.type2(other.server()).show(memory, REMOTE_WRITE);

    failsAtTheReceiver(pair, remote.rkey());

    other.client().post(Requests.write(2, remote, other.client().memory(8)).signaled());
    other.client().sent().expectSuccess(2, RDMA_WRITE);
  }

  @Test
  void failsAtTheReceiverForTheKeyOfARegion() {
    if (isRefused(Capability.SEND_WITH_INVALIDATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    EndpointPair other = tck.setup().serverDomain(pair.server().domain()).connected();
    TestMemory memory = pair.server().open(SIZE);

    failsAtTheReceiver(pair, memory.rkey());

    other.client().post(Requests.write(2, memory, other.client().memory(8)).signaled());
    other.client().sent().expectSuccess(2, RDMA_WRITE);
  }

  // ---- both, under concurrent access

  @Test
  void letsNoByteThroughOnceItHasCompleted() throws InterruptedException {
    for (int round = 0; round < tck.iterations(200); round++) {
      EndpointPair pair = tck.connected();
      // One packet, because rxe checks the key with the first packet of a message only.
      int length = pair.client().device().port().activeMtu().bytes();
      TestMemory memory = pair.server().memory(length, LOCAL_WRITE, MW_BIND);
      TestMemory remote = WindowBinder.type2(pair.server()).show(memory, REMOTE_WRITE);
      TestMemory from = pair.client().memory(length).fill(1);
      new Parallel()
          .thread(
              () -> {
                SendWorkRequest write = Requests.write(1, remote, from).signaled();
                WorkCompletion last;
                do {
                  pair.client().post(write);
                  last = pair.client().sent().next();
                } while (last.isSuccess());
                assertThat(last.status())
                    .isEqualTo(
                        tck.supports(Capability.REQUEST_STATUS) ? REM_ACCESS_ERR : WR_FLUSH_ERR);
              })
          .thread(
              () -> {
                pair.server().post(invalidate(2, remote.rkey()).signaled());
                pair.server().sent().expectSuccessOrFlush(2);
                memory.fill(5);
              })
          .run(tck.timeout());
      memory.assertHolds(5);
      pair.server().queuePair().close();
      pair.client().queuePair().close();
    }
  }

  @Test
  void isDoneAtBothEndsAtOnce() throws InterruptedException {
    EndpointPair pair = tck.connected();
    new Parallel()
        .thread(() -> bindWriteAndInvalidate(pair.client(), pair.server()))
        .thread(() -> bindWriteAndInvalidate(pair.server(), pair.client()))
        .run(tck.timeout());
    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    assertThat(pair.server().queuePair().state()).isEqualTo(QueuePairState.RTS);
  }

  private void bindWriteAndInvalidate(Endpoint end, Endpoint peer) {
    TestMemory memory = bindable(end);
    TestMemory there = peer.open(SIZE);
    TestMemory from = end.memory(SIZE);
    WindowBinder window = WindowBinder.type2(end);
    for (int round = 0; round < tck.iterations(10_000); round++) {
      TestMemory shown = window.show(memory, REMOTE_WRITE);
      end.post(
          Requests.linked(Requests.write(1, there, from), invalidate(2, shown.rkey()).signaled()));
      end.sent().expectSuccess(2, LOCAL_INV);
    }
  }

  private static SendWorkRequest sendWithInvalidate(long id, int key, TestMemory... from) {
    SendWorkRequest request = new SendWorkRequest(from.length).id(id).sendWithInvalidate(key);
    for (TestMemory part : from) {
      request.buffers().add(part.address(), part.length(), part.lkey());
    }
    return request.signaled();
  }

  private static void rejectsAWrite(EndpointPair pair, TestMemory remote) {
    pair.client().post(Requests.write(9, remote, pair.client().memory(8).fill(9)));
    pair.client().sent().expectError(9, REM_ACCESS_ERR);
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  private static void failsLocally(Endpoint end, int key) {
    end.post(invalidate(9, key));
    end.sent().expectError(9, LOC_QP_OP_ERR);
    end.awaitState(QueuePairState.ERR);
  }

  /**
   * Asserts that an invalid key fails the receiver. The message was acknowledged before, so the
   * sender succeeds.
   */
  private static void failsAtTheReceiver(EndpointPair pair, int key) {
    pair.server().post(Requests.receive(8));
    pair.client().post(sendWithInvalidate(9, key));
    pair.server().received().expectError(8, REM_INV_REQ_ERR);
    pair.server().awaitState(QueuePairState.ERR);
    pair.client().sent().expectSuccess(9, SEND);
  }
}
