// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests UD: 40 bytes in front of each datagram tell its sender. */
class DatagramTest {
  private static final int QUEUE_KEY = 0x1234;
  private static final AddressVector TO_B = AddressVector.to(new Gid(0, 0xffff_0a00_0002L));

  private final Pair pair = Pair.of(QueuePairType.UD);

  private record Handle(AddressVector vector) implements AddressHandle {
    @Override
    public ProtectionDomain protectionDomain() {
      throw new AssertionError("not the engine's to ask");
    }

    @Override
    public void close() {}
  }

  private SendWorkRequest to(SendWorkRequest request) {
    return request.to(new Handle(TO_B), pair.b.number, QUEUE_KEY);
  }

  @Test
  void bringsADatagramBehindItsIpHeader() {
    pair.receiveAtB(9, 100, 500);
    pair.a.post(to(pair.send(1, 0, 300)));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS SEND 300");
    assertThat(pair.b.host.receivesDone)
        .containsExactly(
            new Done(
                9,
                CompletionStatus.SUCCESS,
                CompletionOpcode.RECV,
                340,
                0,
                pair.a.number,
                WorkCompletion.GRH,
                false));
    assertThat(Operation.part(pair.atB.bytes, 140, 300))
        .isEqualTo(Operation.part(pair.atA.bytes, 0, 300));
    assertThat(Operation.part(pair.atB.bytes, 100, 20)).containsOnly(0);
    AddressVector back =
        GlobalRoute.back(
            ByteBuffer.wrap(pair.atB.bytes, 100, GlobalRoute.LENGTH).slice(),
            List.of(new Gid(0, 0xffff_0a00_0002L)));
    assertThat(back.destination()).isEqualTo(new Gid(0, 0xffff_0a00_0001L));
  }

  @Test
  void bringsImmediateData() {
    pair.receiveAtB(9, 0, 50);
    pair.a.post(to(pair.fill(new SendWorkRequest().id(1).sendWithImmediate(7), 0, 10)).solicited());
    pair.run();

    Done received = pair.b.host.receivesDone.get(0);
    assertThat(received.immediate()).isEqualTo(7);
    assertThat(received.flags()).isEqualTo(WorkCompletion.GRH | WorkCompletion.WITH_IMM);
    assertThat(received.solicited()).isTrue();
  }

  @Test
  void goesWhereItsHandleLeads() {
    List<AddressVector> ways = new ArrayList<>();
    List<RocePacket> frames = new ArrayList<>();
    pair.a.out =
        (frame, way) -> {
          ways.add(way);
          frames.add(TestWire.copy(frame));
        };
    AddressVector far = AddressVector.to(new Gid(1, 2));
    pair.a.post(pair.send(1, 0, 10).to(new Handle(far), 0x4321, QUEUE_KEY));

    assertThat(ways).containsExactly(far);
    assertThat(frames.get(0).destinationQueuePair()).isEqualTo(0x4321);
    assertThat(frames.get(0).sourceQueuePair()).isEqualTo(pair.a.number);
    assertThat(frames.get(0).queueKey()).isEqualTo(QUEUE_KEY);
  }

  @Test
  void carriesItsOwnQueueKeyIfTheHighBitAsksForIt() {
    pair.receiveAtB(9, 0, 50);
    pair.a.post(pair.send(1, 0, 10).to(new Handle(TO_B), pair.b.number, 0x8000_0000));
    pair.run();

    assertThat(pair.b.host.receivesDone).hasSize(1);
  }

  @Test
  void dropsADatagramWithAnotherQueueKey() {
    pair.receiveAtB(9, 0, 50);
    pair.a.post(pair.send(1, 0, 10).to(new Handle(TO_B), pair.b.number, QUEUE_KEY + 1));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.b.host.receivesDone).isEmpty();
    assertThat(pair.b.host.receives).hasSize(1);
  }

  @Test
  void dropsWhatHasNoReceiveOrOneTooSmall() {
    pair.a.post(to(pair.send(1, 0, 10)));
    pair.run();
    pair.receiveAtB(9, 0, 49);
    pair.a.post(to(pair.send(2, 0, 10)));
    pair.a.post(to(pair.send(3, 0, 9)));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(3);
    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("9 SUCCESS RECV 49");
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void failsAReceiveOfASharedQueueThatIsTooSmallAndGoesOn() {
    Pair sharing = Pair.sharingReceives(QueuePairType.UD);
    sharing.receiveAtB(9, 0, 49);
    sharing.a.post(sharing.send(2, 0, 10).to(new Handle(TO_B), sharing.b.number, QUEUE_KEY));
    sharing.run();

    assertThat(sharing.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("9 LOC_LEN_ERR");
    assertThat(sharing.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void sendsNothingBeyondTheMtuAndNothingCutOff() {
    pair.receiveAtB(9, 0, 3_000);
    pair.a.post(to(pair.send(1, 0, Pair.MTU + 1)));
    pair.a.post(to(pair.send(2, 0, Pair.MTU)));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS SEND 1025", "2 SUCCESS SEND 1024");
    assertThat(pair.wire.sent).hasSize(1);
    assertThat(pair.b.host.receivesDone)
        .extracting(Done::byteLength)
        .containsExactly(Pair.MTU + 40);
  }

  @Test
  void stopsItsSendQueueForALocalFailure() {
    pair.a.queue(to(pair.send(1, 0, 10).buffer(pair.atA.address, 10, 0xbad)));
    pair.a.queue(to(pair.send(2, 0, 10)));
    pair.a.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 LOC_PROT_ERR", "2 WR_FLUSH_ERR");
    assertThat(pair.a.engine.state()).isEqualTo(QueuePairState.SQE);
  }

  @Test
  void doesNothingButSend() {
    pair.a.post(pair.write(1, 0, 10, 0));

    assertThat(pair.a.host.sendsDone).extracting(Done::toString).containsExactly("1 LOC_QP_OP_ERR");
  }
}
