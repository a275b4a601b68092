// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.CompletionOpcode.RDMA_READ;
import static io.verbena.verbs.CompletionOpcode.RDMA_WRITE;
import static io.verbena.verbs.CompletionOpcode.RECV;
import static io.verbena.verbs.CompletionOpcode.RECV_RDMA_WITH_IMM;
import static io.verbena.verbs.CompletionOpcode.SEND;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Successful READs and WRITEs. */
abstract class ReadWriteTests extends VerbsTests {
  private static final int MEGABYTE = 1 << 20;
  private static final int[] SIZES = {
    0, 1, 7, 8, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 65_537, MEGABYTE - 1, MEGABYTE
  };

  ReadWriteTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void writesEverySize() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(MEGABYTE);
    TestMemory remote = pair.server().open(MEGABYTE + 2);

    for (int size : SIZES) {
      TestMemory before = remote.part(0, 1).fill(size + 1);
      TestMemory after = remote.part(size + 1, 1).fill(size + 2);
      pair.client()
          .post(
              Requests.write(size, remote.part(1, size), from.part(0, size).fill(size)).signaled());

      pair.client().sent().expectSuccess(size, RDMA_WRITE);
      remote.part(1, size).assertHolds(size);
      before.assertHolds(size + 1);
      after.assertHolds(size + 2);
    }
  }

  @Test
  void readsEverySize() {
    EndpointPair pair = tck.connected();
    TestMemory into = pair.client().sink(MEGABYTE + 2);
    TestMemory remote = pair.server().open(MEGABYTE);

    for (int size : SIZES) {
      remote.part(0, size).fill(size);
      TestMemory before = into.part(0, 1).fill(size + 1);
      TestMemory after = into.part(size + 1, 1).fill(size + 2);
      pair.client().post(Requests.read(size, remote.part(0, size), into.part(1, size)).signaled());

      WorkCompletion completion = pair.client().sent().expectSuccess(size, RDMA_READ);
      assertThat(completion.byteLength()).isEqualTo(size);
      into.part(1, size).assertHolds(size);
      before.assertHolds(size + 1);
      after.assertHolds(size + 2);
    }
  }

  @Test
  void readsAndWritesOverAConnectionMadeByHand() {
    EndpointPair pair = tck.setup().byHand();
    TestMemory local = pair.server().sink(5000).fill(1);
    TestMemory remote = pair.client().open(5000);

    pair.server().post(Requests.write(1, remote, local).signaled());
    pair.server().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
    remote.fill(2);
    pair.server().post(Requests.read(2, remote, local).signaled());
    pair.server().sent().expectSuccess(2, RDMA_READ);

    local.assertHolds(2);
  }

  @Test
  void tellsThePeerNothing() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(8);
    pair.server().post(Requests.receive(1));

    pair.client().post(Requests.write(2, remote, pair.client().memory(8)).signaled());
    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    pair.client().post(Requests.read(3, remote, pair.client().open(8)).signaled());
    pair.client().sent().expectSuccess(3, RDMA_READ);

    pair.server().received().expectNothing();
    pair.server().sent().expectNothing();
  }

  @Test
  void gathersAWriteFromManyBuffers() {
    int most = Math.min(4, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(most, 1).connected();
    ScatteredMemory from = new ScatteredMemory(pair.client(), 3000, most, 7, 0, 1000).fill(1);
    TestMemory remote = pair.server().open(3000);

    pair.client().post(Requests.write(1, remote, from.all()).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
  }

  @Test
  void scattersAReadOverManyBuffers() {
    int most = Math.min(4, tck.attributes().maxScatterGather());
    EndpointPair pair = tck.setup().scatterGather(most, 1).connected();
    ScatteredMemory into = new ScatteredMemory(pair.client(), 3000, most, 7, 0, 1000);
    TestMemory remote = pair.server().open(3000).fill(2);

    pair.client().post(Requests.read(1, remote, into.all()).signaled());

    WorkCompletion completion = pair.client().sent().expectSuccess(1, RDMA_READ);
    assertThat(completion.byteLength()).isEqualTo(3000);
    into.assertHold(2);
  }

  @Test
  void needsNoKeyToWriteNothing() {
    EndpointPair pair = tck.connected();

    pair.client().post(new SendWorkRequest(0).id(1).write(-1, 0xdead_beef).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
  }

  @Test
  void needsNoKeyToReadNothing() {
    EndpointPair pair = tck.connected();

    pair.client().post(new SendWorkRequest(0).id(1).read(-1, 0xdead_beef).signaled());

    pair.client().sent().expectSuccess(1, RDMA_READ);
  }

  @Test
  void reachesEachByteOfTheRegion() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(100).fill(1);
    TestMemory into = pair.client().sink(1);

    pair.client().post(Requests.read(1, remote.part(0, 1), into).signaled());
    pair.client().sent().expectSuccess(1, RDMA_READ);
    into.assertHolds(1);
    pair.client().post(Requests.read(2, remote.part(99, 1), into).signaled());
    pair.client().sent().expectSuccess(2, RDMA_READ);

    into.assertHolds(1, 99);
  }

  @Test
  void readsFromARegionThatMayOnlyBeRead() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(64, Access.REMOTE_READ).fill(1);
    TestMemory into = pair.client().sink(64);

    pair.client().post(Requests.read(1, remote, into).signaled());

    pair.client().sent().expectSuccess(1, RDMA_READ);
    into.assertHolds(1);
  }

  @Test
  void writesToARegionThatMayOnlyBeWritten() {
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().memory(64, LOCAL_WRITE, Access.REMOTE_WRITE);

    pair.client().post(Requests.write(1, remote, pair.client().memory(64).fill(1)).signaled());

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(1);
  }

  @Test
  void writesInlineData() {
    if (isRefused(Capability.INLINE_DATA)) {
      return;
    }
    EndpointPair pair = tck.setup().inlineData(16).connected();
    TestMemory remote = pair.server().open(16);
    ByteBuffer data = ByteBuffer.allocate(16);
    for (int i = 0; i < 16; i++) {
      data.put(i, TestMemory.pattern(3, i));
    }

    pair.client()
        .post(
            new SendWorkRequest()
                .id(1)
                .write(remote.address(), remote.rkey())
                .inline(data)
                .signaled());
    data.put(0, (byte) 0);

    pair.client().sent().expectSuccess(1, RDMA_WRITE);
    remote.assertHolds(3);
  }

  @Test
  void takesAReceiveForAWriteWithImmediateAndLeavesItsBufferAlone() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.connected();
    TestMemory remote = pair.server().open(5000);
    TestMemory unused = pair.server().memory(64, LOCAL_WRITE);
    pair.server().post(Requests.receive(1, unused));
    TestMemory from = pair.client().memory(5000).fill(1);

    pair.client().post(Requests.writeWithImmediate(2, 0xcafe_babe, remote, from).signaled());

    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    WorkCompletion received = pair.server().received().expectSuccess(1, RECV_RDMA_WITH_IMM);
    assertThat(received.hasImmediate()).isTrue();
    assertThat(received.immediate()).isEqualTo(0xcafe_babe);
    assertThat(received.byteLength()).isEqualTo(5000);
    remote.assertHolds(1);
    unused.assertUntouched();
  }

  @Test
  void carriesAnImmediateWithAWriteOfNothing() {
    if (isRefused(Capability.IMMEDIATE_DATA)) {
      return;
    }
    EndpointPair pair = tck.connected();
    pair.server().post(Requests.receive(1));

    pair.client().post(new SendWorkRequest(0).id(2).writeWithImmediate(0, 0, 77).signaled());

    pair.client().sent().expectSuccess(2, RDMA_WRITE);
    WorkCompletion received = pair.server().received().expectSuccess(1, RECV_RDMA_WITH_IMM);
    assertThat(received.immediate()).isEqualTo(77);
    assertThat(received.byteLength()).isZero();
  }

  @Test
  void showsWhatWasWrittenWithTheMessageThatFollows() {
    EndpointPair pair = tck.connected();
    TestMemory from = pair.client().memory(10_000);
    TestMemory remote = pair.server().open(10_000);

    for (int round = 1; round <= 100; round++) {
      pair.server().post(Requests.receive(round));
      pair.client()
          .post(
              Requests.linked(
                  Requests.write(round, remote, from.fill(round)),
                  Requests.send(round).signaled()));

      pair.server().received().expectSuccess(round, RECV);
      remote.assertHolds(round);
      pair.client().sent().expectSuccess(round, SEND);
    }
  }

  @Test
  void holdsBackAFencedMessageUntilTheReadIsDone() {
    EndpointPair pair = tck.connected();
    TestMemory local = pair.client().sink(MEGABYTE);
    TestMemory remote = pair.server().open(MEGABYTE);
    TestMemory into = pair.server().memory(MEGABYTE, LOCAL_WRITE);

    for (int round = 1; round <= 10; round++) {
      remote.fill(round);
      pair.server().post(Requests.receive(round, into));
      pair.client()
          .post(
              Requests.linked(
                  Requests.read(1, remote, local), Requests.send(2, local).fence().signaled()));

      pair.client().sent().expectSuccess(2, SEND);
      pair.server().received().expectSuccess(round, RECV);
      into.assertHolds(round);
    }
  }

  @Test
  void completesMoreReadsThanItMayHaveOutstanding() {
    EndpointPair pair = tck.setup().sends(64).readAtomic(1, 1).byHand();
    TestMemory into = pair.client().sink(64 * 8);
    TestMemory remote = pair.server().open(64 * 8).fill(5);

    for (int id = 0; id < 64; id++) {
      pair.client()
          .post(Requests.read(id, remote.part(id * 8, 8), into.part(id * 8, 8)).signaled());
    }

    for (int id = 0; id < 64; id++) {
      pair.client().sent().expectSuccess(id, RDMA_READ);
    }
    into.assertHolds(5);
  }

  @Test
  void readsWithinOneRegionOfItsOwn() {
    Endpoint end = tck.setup().endpointIn(QueuePairState.RTS);
    TestMemory memory = end.open(200);
    memory.part(0, 100).fill(1);

    end.post(Requests.read(1, memory.part(0, 100), memory.part(100, 100)).signaled());

    end.sent().expectSuccess(1, RDMA_READ);
    memory.part(100, 100).assertHolds(1);
  }
}
