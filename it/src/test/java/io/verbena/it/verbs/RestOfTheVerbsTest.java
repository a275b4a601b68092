// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import static io.verbena.it.verbs.Loopback.next;
import static io.verbena.it.verbs.Loopback.success;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.verbs.Loopback.Memory;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests UC, UD, shared receive queues, memory windows and invalidation on the kernel's stack, each
 * in one small program; the TCK tests their rules one by one.
 */
@InSoftRoceGuest(nodes = 1)
class RestOfTheVerbsTest {
  private static final int GRH = 40;

  private final Loopback hca = new Loopback();
  private final Memory from = hca.memory(64, Access.LOCAL_WRITE).fill(7);
  private final Memory into =
      hca.memory(256, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.MW_BIND);

  @AfterEach
  void close() throws Exception {
    hca.close();
  }

  private static SendWorkRequest payload(SendWorkRequest request, Memory memory, int length) {
    return request.buffer(memory.region().address(), length, memory.region().lkey());
  }

  private ReceiveWorkRequest receive(long id) {
    return new ReceiveWorkRequest()
        .id(id)
        .buffer(into.region().address(), 128, into.region().lkey());
  }

  @Test
  void sendsAndWritesUnreliably() {
    QueuePair a = hca.pair(QueuePairType.UC, null);
    QueuePair b = hca.pair(QueuePairType.UC, null);
    hca.connect(a, b);
    hca.connect(b, a);
    b.postReceive(receive(1));
    b.postReceive(receive(2));

    a.postSend(payload(new SendWorkRequest().id(3).send(), from, 64).signaled());
    a.postSend(
        payload(
                new SendWorkRequest()
                    .id(4)
                    .writeWithImmediate(into.region().address() + 128, into.region().rkey(), 99),
                from,
                64)
            .signaled());

    assertThat(success(hca.sent).workRequestId()).isEqualTo(3);
    assertThat(success(hca.sent).workRequestId()).isEqualTo(4);
    assertThat(success(hca.received).opcode()).isEqualTo(CompletionOpcode.RECV);
    WorkCompletion written = success(hca.received);
    assertThat(written.opcode()).isEqualTo(CompletionOpcode.RECV_RDMA_WITH_IMM);
    assertThat(written.immediate()).isEqualTo(99);
    assertThat(into.copy(0, 64)).containsOnly(7);
    assertThat(into.copy(128, 64)).containsOnly(7);
  }

  @Test
  void sendsDatagramsBehindAHeader() {
    QueuePair a = hca.pair(QueuePairType.UD, null);
    QueuePair b = hca.pair(QueuePairType.UD, null);
    hca.open(a);
    hca.open(b);
    AddressHandle handle = hca.own(hca.domain.createAddressHandle(hca.self()));
    b.postReceive(receive(1));

    a.postSend(
        payload(new SendWorkRequest().id(2).sendWithImmediate(5), from, 64)
            .to(handle, b.number(), Loopback.QUEUE_KEY)
            .signaled());

    success(hca.sent);
    WorkCompletion received = success(hca.received);
    assertThat(received.byteLength()).isEqualTo(GRH + 64);
    assertThat(received.flags()).isEqualTo(WorkCompletion.GRH | WorkCompletion.WITH_IMM);
    assertThat(received.sourceQueuePair()).isEqualTo(a.number());
    assertThat(received.immediate()).isEqualTo(5);
    assertThat(into.copy(GRH, 64)).containsOnly(7);
  }

  @Test
  void sharesReceivesAndTellsWhenTheyRunLow() throws InterruptedException {
    SharedReceiveQueue shared = hca.own(hca.domain.createSharedReceiveQueue(16, 1));
    QueuePair a = hca.pair(QueuePairType.RC, null);
    QueuePair b = hca.pair(QueuePairType.RC, shared);
    QueuePair c = hca.pair(QueuePairType.RC, null);
    QueuePair d = hca.pair(QueuePairType.RC, shared);
    hca.connect(a, b);
    hca.connect(b, a);
    hca.connect(c, d);
    hca.connect(d, c);
    for (int id = 0; id < 10; id++) {
      shared.postReceive(receive(id));
    }
    shared.limit(7);

    for (int i = 0; i < 4; i++) {
      QueuePair sender = i % 2 == 0 ? a : c;
      sender.postSend(payload(new SendWorkRequest().id(i).send(), from, 8).signaled());
      success(hca.sent);
      WorkCompletion received = success(hca.received);
      assertThat(received.workRequestId()).isEqualTo(i);
      assertThat(received.queuePairNumber()).isEqualTo(i % 2 == 0 ? b.number() : d.number());
    }

    assertThat(hca.event()).isEqualTo(new AsyncEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED, shared));
    assertThat(shared.limit()).isZero();
    assertThat(hca.device.awaitAsyncEvent(0)).isNull();
  }

  @Test
  void showsAPartOfARegionThroughAWindowUntilItIsInvalidated() {
    QueuePair a = hca.pair(QueuePairType.RC, null);
    QueuePair b = hca.pair(QueuePairType.RC, null);
    hca.connect(a, b);
    hca.connect(b, a);
    int key = bind(b);

    write(a, into.region().address() + 64, key);
    assertThat(success(hca.sent).opcode()).isEqualTo(CompletionOpcode.RDMA_WRITE);
    assertThat(into.copy(64, 64)).containsOnly(7);

    b.postSend(new SendWorkRequest().id(3).localInvalidate(key).signaled());
    assertThat(success(hca.sent).opcode()).isEqualTo(CompletionOpcode.LOCAL_INV);
    write(a, into.region().address() + 64, key);
    assertThat(next(hca.sent).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    assertThat(a.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void letsThePeerInvalidateAWindowWithAMessage() {
    QueuePair a = hca.pair(QueuePairType.RC, null);
    QueuePair b = hca.pair(QueuePairType.RC, null);
    hca.connect(a, b);
    hca.connect(b, a);
    int key = bind(b);
    b.postReceive(receive(1));

    a.postSend(payload(new SendWorkRequest().id(2).sendWithInvalidate(key), from, 8).signaled());

    success(hca.sent);
    // rxe does not report the invalidated key to user space (rxe_resp.c, do_complete).
    assertThat(success(hca.received).opcode()).isEqualTo(CompletionOpcode.RECV);
    write(a, into.region().address() + 64, key);
    assertThat(next(hca.sent).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }

  /** Binds a type 2 window to 64 bytes of {@link #into}, from offset 64; returns its key. */
  private int bind(QueuePair pair) {
    MemoryWindow window = hca.own(hca.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B));
    int key = (window.rkey() & ~0xff) | (window.rkey() + 1 & 0xff);
    SendWorkRequest bind =
        new SendWorkRequest().id(9).bind(window, key, into.region(), Access.REMOTE_WRITE.bit());
    pair.postSend(bind.buffer(into.region().address() + 64, 64, into.region().lkey()).signaled());
    assertThat(success(hca.sent).opcode()).isEqualTo(CompletionOpcode.BIND_MW);
    return key;
  }

  private void write(QueuePair pair, long address, int key) {
    pair.postSend(payload(new SendWorkRequest().id(8).write(address, key), from, 64).signaled());
  }
}
