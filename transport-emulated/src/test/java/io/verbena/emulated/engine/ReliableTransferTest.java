// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.Psn;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the packets and results of a reliable connection over a wire without loss. */
class ReliableTransferTest {
  private final Pair pair = Pair.reliable();

  @ParameterizedTest
  @EnumSource
  void doesEachOperation(Operation operation) {
    operation.doOn(pair);
  }

  @ParameterizedTest
  @EnumSource
  void doesEachOperationWithEachMtu(Mtu mtu) {
    for (Operation operation : Operation.values()) {
      operation.doOn(Pair.reliable(attributes -> attributes.pathMtu(mtu)));
    }
  }

  @Test
  void cutsAMessageIntoPacketsOfOneMtuWithFollowingPsns() {
    pair.a.post(pair.write(1, 0, 2 * Pair.MTU + 1, 0));
    pair.run();

    assertThat(pair.wire.sentBy(true))
        .extracting(Packet::opcode)
        .containsExactly(
            PacketOpcode.RC_WRITE_FIRST, PacketOpcode.RC_WRITE_MIDDLE, PacketOpcode.RC_WRITE_LAST);
    assertThat(pair.wire.sentBy(true))
        .extracting(Packet::psn)
        .containsExactly(Pair.A_PSN, Pair.A_PSN + 1, Pair.A_PSN + 2);
    assertThat(pair.wire.sentBy(true))
        .extracting(packet -> packet.frame().ackRequested())
        .containsExactly(false, false, true);
    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::opcode, Packet::psn)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(PacketOpcode.RC_ACKNOWLEDGE, Pair.A_PSN + 2));
  }

  @Test
  void takesAsManyPsnsForAReadAsItHasResponses() {
    pair.a.queue(pair.read(1, 0, 2_500, 0));
    pair.a.queue(pair.write(2, 0, 10, 100));
    pair.a.run();
    pair.run();

    assertThat(pair.wire.sentBy(true))
        .extracting(Packet::psn)
        .containsExactly(Pair.A_PSN, Pair.A_PSN + 3);
  }

  @Test
  void goesOnOverTheEndOfThePsns() {
    pair.a.post(pair.write(1, 0, 40 * Pair.MTU, 0));
    pair.run();

    List<Packet> packets = pair.wire.sentBy(true);
    assertThat(packets).hasSize(40);
    assertThat(packets.get(39).psn()).isEqualTo(Psn.plus(Pair.A_PSN, 39)).isLessThan(100);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  @Test
  void acknowledgesManyPacketsWithOne() {
    for (int i = 0; i < 10; i++) {
      pair.a.queue(pair.write(i, 0, 10, 0));
    }
    List<Packet> requests = new ArrayList<>();
    pair.wire.fault = (index, packet, delivery) -> requests.add(packet);
    pair.a.run();
    pair.wire.fault = TestWire.NONE;
    for (Packet request : requests) {
      pair.b.engine.receive(request.frame());
    }
    pair.b.run();
    pair.run();

    assertThat(pair.wire.sentBy(false)).extracting(Packet::psn).containsExactly(Pair.A_PSN + 9);
    assertThat(pair.a.host.sendsDone).hasSize(10);
  }

  @Test
  void completesOnlySignaledRequestsAndThoseThatFailed() {
    pair.a.queue(new SendWorkRequest().id(1).write(pair.atB.address, pair.atB.key));
    pair.a.queue(pair.write(2, 0, 10, 0));
    pair.a.queue(
        new SendWorkRequest()
            .id(3)
            .write(pair.atB.address, 0xbad)
            .buffer(pair.atA.address, 1, pair.atA.key));
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("2 SUCCESS RDMA_WRITE 10", "3 REM_ACCESS_ERR");
  }

  @Test
  void completesEachOperationUnderItsName() {
    pair.receiveAtB(9, 0, 100);
    pair.a.post(pair.read(1, 0, 10, 0));
    pair.a.post(pair.fetchAndAdd(2, 0, 0, 1));
    pair.a.post(
        pair.fill(
            new SendWorkRequest().id(3).compareAndSwap(pair.atB.address, pair.atB.key, 0, 0),
            0,
            8));
    pair.a.post(pair.send(4, 0, 10));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly(
            "1 SUCCESS RDMA_READ 10",
            "2 SUCCESS FETCH_ADD 8",
            "3 SUCCESS COMP_SWAP 8",
            "4 SUCCESS SEND 10");
  }

  @Test
  void gathersAndScatters() {
    SendWorkRequest gathering = new SendWorkRequest(4).id(1).send().signaled();
    gathering.buffers().add(pair.atA.address + 7, 1_000, pair.atA.key);
    gathering.buffers().add(pair.atA.address, 0, 0);
    gathering.buffers().add(pair.atA.address + 2_000, 1_500, pair.atA.key);
    ReceiveWorkRequest scattering = new ReceiveWorkRequest(4).id(2);
    scattering.buffers().add(pair.atB.address + 10_000, 30, pair.atB.key);
    scattering.buffers().add(pair.atB.address, 3_000, pair.atB.key);
    pair.b.postReceive(scattering);
    pair.a.post(gathering);
    pair.run();

    byte[] expected = new byte[2_500];
    System.arraycopy(pair.atA.bytes, 7, expected, 0, 1_000);
    System.arraycopy(pair.atA.bytes, 2_000, expected, 1_000, 1_500);
    byte[] got = new byte[2_500];
    System.arraycopy(pair.atB.bytes, 10_000, got, 0, 30);
    System.arraycopy(pair.atB.bytes, 0, got, 30, 2_470);
    assertThat(got).isEqualTo(expected);
    assertThat(pair.b.host.receivesDone.get(0).byteLength()).isEqualTo(2_500);
  }

  @Test
  void bringsImmediateDataKeysAndTheSolicitedBit() {
    TestHost.Region victim = pair.b.host.register(10);
    for (int i = 0; i < 3; i++) {
      pair.receiveAtB(i, 100 * i, 100);
    }
    pair.a.post(pair.fill(new SendWorkRequest().sendWithImmediate(0xcafe_babe), 0, 9).solicited());
    pair.a.post(pair.fill(new SendWorkRequest().sendWithInvalidate(victim.key), 0, 9));
    pair.a.post(
        pair.fill(
            new SendWorkRequest().writeWithImmediate(pair.atB.address + 5_000, pair.atB.key, -1),
            0,
            2_000));
    pair.run();

    assertThat(pair.b.host.receivesDone)
        .containsExactly(
            new Done(
                0,
                CompletionStatus.SUCCESS,
                CompletionOpcode.RECV,
                9,
                0xcafe_babe,
                0,
                WorkCompletion.WITH_IMM,
                true),
            new Done(
                1,
                CompletionStatus.SUCCESS,
                CompletionOpcode.RECV,
                9,
                victim.key,
                0,
                WorkCompletion.WITH_INV,
                false),
            new Done(
                2,
                CompletionStatus.SUCCESS,
                CompletionOpcode.RECV_RDMA_WITH_IMM,
                2_000,
                -1,
                0,
                WorkCompletion.WITH_IMM,
                false));
    assertThat(pair.b.host.knows(victim.key)).isFalse();
  }

  @Test
  void worksInBothDirectionsAtOnce() {
    for (int i = 0; i < 20; i++) {
      pair.a.queue(pair.read(i, 0, 3_000, 30_000));
      pair.b.queue(
          new SendWorkRequest()
              .id(i)
              .write(pair.atA.address + 40_000, pair.atA.key)
              .buffer(pair.atB.address, 3_000, pair.atB.key)
              .signaled());
    }
    pair.a.run();
    pair.b.run();
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .hasSize(20)
        .allMatch(done -> done.status() == CompletionStatus.SUCCESS);
    assertThat(pair.b.host.sendsDone)
        .hasSize(20)
        .allMatch(done -> done.status() == CompletionStatus.SUCCESS);
    assertThat(pair.wire.sent).noneMatch(packet -> packet.syndrome() >= 0x20);
  }
}
