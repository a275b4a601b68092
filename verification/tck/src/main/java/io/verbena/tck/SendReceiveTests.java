// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_READ;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static io.verbena.verbs.CompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.CompletionStatus.REM_INV_REQ_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** SEND and RECV. */
abstract class SendReceiveTests extends VerbsTests {
  private static final int MEGABYTE = 1 << 20;

  SendReceiveTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void carriesAMessageIntoThePeersReceive() {
    carriesAMessageBothWays(tck.connected());
  }

  @Test
  void carriesAMessageOverAConnectionMadeByHand() {
    carriesAMessageBothWays(tck.setup().byHand());
  }

  @Test
  void carriesMessagesBeyondTheWrapOfTheSequenceNumbers() {
    EndpointPair pair = tck.setup().clientPsn(0xff_fffe, 0xff_fffe).byHand();
    int size = 8 * 4096;
    TestMemory from = pair.client().memory(size);
    TestMemory into = pair.server().memory(size, LOCAL_WRITE);

    for (int id = 1; id <= 4; id++) {
      pair.server().post(Requests.receive(id, into));
      pair.client().post(Requests.send(id, from.fill(id)).signaled());
      pair.client().sent().expectSuccess(id, SEND);
      pair.server().received().expectSuccess(id, RECV);
      into.assertHolds(id);
    }
  }

  @Test
  void tellsOnWhichQueuePairsItHappened() {
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.send(2).signaled());

    WorkCompletion sent = pair.client().sent().expectSuccess(2, SEND);
    WorkCompletion received = pair.server().received().expectSuccess(1, RECV);

    assertThat(sent.queuePairNumber()).isEqualTo(pair.client().queuePair().number());
    assertThat(received.queuePairNumber()).isEqualTo(pair.server().queuePair().number());
    assertThat(received.hasImmediate()).isFalse();
    assertThat(received.flags()).isZero();
  }

  @Test
  void carriesMessagesOfEverySize() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(MEGABYTE);
    TestMemory into = pair.server().memory(MEGABYTE + 1, LOCAL_WRITE);
    int[] sizes = {
      0,
      1,
      2,
      3,
      7,
      8,
      9,
      63,
      64,
      65,
      255,
      256,
      257,
      1023,
      1024,
      1025,
      4095,
      4096,
      4097,
      65_535,
      65_536,
      65_537,
      MEGABYTE - 1,
      MEGABYTE
    };

    for (int size : sizes) {
      TestMemory message = from.part(0, size).fill(size);
      TestMemory guard = into.part(size, 1).fill(size + 1);
      pair.server().post(Requests.receive(size, into));
      pair.client().post(Requests.send(size, message).signaled());

      pair.client().sent().expectSuccess(size, SEND);
      WorkCompletion received = pair.server().received().expectSuccess(size, RECV);
      assertThat(received.byteLength()).isEqualTo(size);
      into.part(0, size).assertHolds(size);
      guard.assertHolds(size + 1);
    }
  }

  @Test
  void carriesAnEmptyMessageWithoutBuffers() {
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isZero();
  }

  @Test
  void usesOneReceiveForOneMessage() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(2).fill(1);
    TestMemory first = pair.server().memory(8, LOCAL_WRITE);
    TestMemory second = pair.server().memory(8, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, first));
    pair.server().post(Requests.receive(2, second));

    pair.client().post(Requests.send(1, from));
    pair.client().post(Requests.send(2, from));

    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(2);
    assertThat(pair.server().received().expectSuccess(2, RECV).byteLength()).isEqualTo(2);
    first.part(0, 2).assertHolds(1);
    first.part(2, 6).assertUntouched();
    second.part(0, 2).assertHolds(1);
  }

  @Test
  void gathersAMessageFromManyBuffers() {
    int most = Math.min(4, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(most, 1).connected();
    ScatteredMemory from = new ScatteredMemory(pair.client(), 3000, most, 7, 0, 1000).fill(5);
    TestMemory into = pair.server().memory(3000, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));

    pair.client().post(Requests.send(2, from.all()).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(3000);
    into.assertHolds(5);
  }

  @Test
  void scattersAMessageOverManyBuffers() {
    int most = Math.min(4, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(1, most).connected();
    TestMemory from = pair.client().memory(3000).fill(6);
    ScatteredMemory into = new ScatteredMemory(pair.server(), 3000, most, 1000, 0, 1);
    pair.server().post(Requests.receive(1, into.all()));

    pair.client().post(Requests.send(2, from).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(3000);
    into.assertHold(6);
  }

  @Test
  void gathersAndScattersAtDifferentSeams() {
    int most = Math.min(4, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(most, most).connected();
    ScatteredMemory from = new ScatteredMemory(pair.client(), 10_000, most, 4097, 900, 3).fill(8);
    ScatteredMemory into = new ScatteredMemory(pair.server(), 10_000, most, 1, 4096, 5000);
    pair.server().post(Requests.receive(1, into.all()));

    pair.client().post(Requests.send(2, from.all()).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(10_000);
    into.assertHold(8);
  }

  @Test
  void leavesTheRestOfTheReceiveAlone() {
    int most = Math.min(3, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(1, most).connected();
    ScatteredMemory into = new ScatteredMemory(pair.server(), 30, most, 8, 8);
    pair.server().post(Requests.receive(1, into.all()));

    pair.client().post(Requests.send(2, pair.client().memory(10).fill(9)));

    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(10);
    into.assertHold(9, 10);
  }

  @Test
  void refusesAMessageThatIsLargerThanAllBuffersOfTheReceive() {
    int most = Math.min(3, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(1, most).connected();
    pair.server()
        .post(Requests.receive(1, new ScatteredMemory(pair.server(), 30, most, 8, 8).all()));

    pair.client().post(Requests.send(2, pair.client().memory(31)).signaled());

    pair.client().sent().expectError(2, REM_INV_REQ_ERR);
    pair.server().received().expectError(1, LOC_LEN_ERR);
  }

  @Test
  void carriesImmediateData() {
    if (isRefused(Capability.SEND_WITH_IMMEDIATE)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(16).fill(1);
    TestMemory into = pair.server().memory(16, LOCAL_WRITE);

    for (int immediate : new int[] {0, 1, -1, 0x0102_0304, Integer.MIN_VALUE}) {
      pair.server().post(Requests.receive(1, into));
      pair.client().post(Requests.sendWithImmediate(2, immediate, from).signaled());

      pair.client().sent().expectSuccess(2, SEND);
      WorkCompletion received = pair.server().received().expectSuccess(1, RECV);
      assertThat(received.hasImmediate()).isTrue();
      assertThat(received.immediate()).isEqualTo(immediate);
      assertThat(received.byteLength()).isEqualTo(16);
      into.assertHolds(1);
    }
  }

  @Test
  void carriesInlineDataOfDirectBuffers() {
    carriesInlineData(ByteBuffer.allocateDirect(24));
  }

  @Test
  void carriesInlineDataOfHeapBuffers() {
    carriesInlineData(ByteBuffer.allocate(24));
  }

  @Test
  void carriesInlineDataUpToTheCapacity() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(16).connected();
    int most = pair.client().queuePair().capabilities().maxInlineData();
    TestMemory into = pair.server().memory(most + 1, LOCAL_WRITE);
    for (int size : new int[] {0, 1, most}) {
      pair.server().post(Requests.receive(1, into));
      ByteBuffer data = ByteBuffer.allocate(size);
      for (int i = 0; i < size; i++) {
        data.put(i, TestMemory.pattern(3, i));
      }

      pair.client().post(new SendWorkRequest().id(2).send().inline(data).signaled());

      pair.client().sent().expectSuccess(2, SEND);
      assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(size);
      into.part(0, size).assertHolds(3);
    }
  }

  @Test
  void completesNoUnsignaledSend() {
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));
    pair.server().post(Requests.receive(2));

    pair.client().post(Requests.send(1));
    pair.client().post(Requests.send(2).signaled());

    pair.client().sent().expectSuccess(2, SEND);
    pair.client().sent().expectNothing();
    pair.server().received().expectSuccess(1, RECV);
    pair.server().received().expectSuccess(2, RECV);
  }

  @Test
  void completesEverySendOfAQueuePairThatSignalsAll() {
    EndpointPair pair = tck.setup().signalAll().connected();
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.send(1));
    pair.client().post(Requests.nothing(2));

    pair.client().sent().expectSuccess(1, SEND);
    pair.client().sent().expectSuccess(2, RDMA_WRITE);
  }

  @Test
  void refusesAMessageThatIsLargerThanTheReceive() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(9).fill(1);
    TestMemory into = pair.server().memory(9, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into.part(0, 8)));
    pair.server().post(Requests.receive(2, into));

    pair.client().post(Requests.send(3, from).signaled());

    pair.client().sent().expectError(3, REM_INV_REQ_ERR);
    pair.server().received().expectError(1, LOC_LEN_ERR);
    into.part(8, 1).assertUntouched();
    pair.client().awaitState(QueuePairState.ERR);
    pair.server().awaitState(QueuePairState.ERR);
  }

  @Test
  void refusesAMessageThatDoesNotFitAReceiveWithoutBuffers() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(1);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.send(3, from).signaled());

    pair.client().sent().expectError(3, REM_INV_REQ_ERR);
    pair.server().received().expectError(1, LOC_LEN_ERR);
  }

  @Test
  void completesInTheOrderOfPosting() {
    EndpointPair pair = tck.setup().sends(128).receives(128).connected();
    TestMemory local = pair.client().open(4096).fill(1);
    TestMemory remote = pair.server().open(4096);
    List<CompletionOpcode> opcodes = new ArrayList<>();
    for (int id = 0; id < 60; id += 3) {
      pair.server().post(Requests.receive(id, remote));
      pair.client().post(Requests.read(id, remote, local).signaled());
      pair.client().post(Requests.send(id + 1, local).signaled());
      pair.client().post(Requests.write(id + 2, remote, local).signaled());
      opcodes.addAll(List.of(RDMA_READ, SEND, RDMA_WRITE));
    }

    for (int id = 0; id < 60; id++) {
      pair.client().sent().expectSuccess(id, opcodes.get(id));
    }
    for (int id = 0; id < 60; id += 3) {
      pair.server().received().expectSuccess(id, RECV);
    }
  }

  @Test
  void deliversMessagesInOrderAndOnce() {
    EndpointPair pair = tck.setup().sends(64).receives(64).connected();
    int messages = tck.iterations(5000);
    TestMemory from = pair.client().memory(64 * 8);
    TestMemory into = pair.server().memory(64 * 8, LOCAL_WRITE);
    for (int slot = 0; slot < 64; slot++) {
      pair.server().post(Requests.receive(slot, into.part(slot * 8, 8)));
    }

    int posted = 0;
    for (long expected = 0; expected < messages; expected++) {
      while (posted < messages && posted - expected < 32) {
        TestMemory slot = from.part(posted % 64 * 8, 8).putLong(0, posted);
        pair.client().post(Requests.send(posted, slot).signaled());
        posted++;
      }
      pair.client().sent().expectSuccess(expected, SEND);
      long slot = expected % 64;
      pair.server().received().expectSuccess(slot, RECV);
      TestMemory received = into.part((int) slot * 8, 8);
      assertThat(received.getLong(0)).isEqualTo(expected);
      pair.server().post(Requests.receive(slot, received));
    }
    pair.server().received().expectNothing();
  }

  @Test
  void completesSendsAndReceivesOnOneQueue() {
    EndpointPair pair = tck.setup().oneQueue().connected();
    pair.server().post(Requests.receive(1));
    pair.client().post(Requests.receive(11));

    pair.client().post(Requests.send(2).signaled());
    pair.client().sent().expectSuccess(2, SEND);
    pair.server().received().expectSuccess(1, RECV);
    pair.server().post(Requests.send(12).signaled());

    pair.client().received().expectSuccess(11, RECV);
    pair.server().sent().expectSuccess(12, SEND);
  }

  @Test
  void talksToItself() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTS);
    TestMemory from = end.memory(100).fill(4);
    TestMemory into = end.memory(100, LOCAL_WRITE);
    end.post(Requests.receive(1, into));

    end.post(Requests.send(2, from).signaled());

    end.sent().expectSuccess(2, SEND);
    end.received().expectSuccess(1, RECV);
    into.assertHolds(4);
  }

  private void carriesAMessageBothWays(EndpointPair pair) {
    TestMemory clients = pair.client().memory(100, LOCAL_WRITE).fill(1);
    TestMemory servers = pair.server().memory(100, LOCAL_WRITE);
    pair.server().post(Requests.receive(11, servers));
    pair.client().post(Requests.receive(12, clients));

    pair.client().post(Requests.send(1, clients).signaled());
    pair.client().sent().expectSuccess(1, SEND);
    assertThat(pair.server().received().expectSuccess(11, RECV).byteLength()).isEqualTo(100);
    servers.assertHolds(1);

    pair.server().post(Requests.send(2, servers.fill(2)).signaled());
    pair.server().sent().expectSuccess(2, SEND);
    assertThat(pair.client().received().expectSuccess(12, RECV).byteLength()).isEqualTo(100);
    clients.assertHolds(2);
  }

  private void carriesInlineData(ByteBuffer data) {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(16).connected();
    TestMemory into = pair.server().memory(64, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, into));
    data.position(4).limit(20);
    for (int i = 0; i < 16; i++) {
      data.put(4 + i, TestMemory.pattern(7, i));
    }

    pair.client().post(new SendWorkRequest().id(2).send().inline(data).signaled());
    assertThat(data.position()).as("position of the payload").isEqualTo(4);
    for (int i = 0; i < data.capacity(); i++) {
      data.put(i < 20 ? i : 19, (byte) 0);
    }

    pair.client().sent().expectSuccess(2, SEND);
    assertThat(pair.server().received().expectSuccess(1, RECV).byteLength()).isEqualTo(16);
    into.part(0, 16).assertHolds(7);
  }
}
