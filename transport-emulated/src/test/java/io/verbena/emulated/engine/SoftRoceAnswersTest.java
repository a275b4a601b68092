// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.QueuePairState;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Expects the answers that Soft-RoCE gave to a plain UDP socket, packet by packet. */
class SoftRoceAnswersTest {
  private final Pair pair = Pair.reliable();

  /** Drops the answers on the wire: the test is the requester in place of A. */
  @BeforeEach
  void onlyWatchTheAnswers() {
    pair.wire.fault = (index, packet, delivery) -> {};
  }

  private RocePacket write(int psn, int length) {
    return pair.toB(PacketOpcode.RC_WRITE_ONLY, psn, length)
        .remoteAddress(pair.atB.address)
        .remoteKey(pair.atB.key)
        .dmaLength(length);
  }

  private RocePacket read(int psn, int from, int length) {
    return pair.toB(PacketOpcode.RC_READ_REQUEST, psn, 0)
        .remoteAddress(pair.atB.address + from)
        .remoteKey(pair.atB.key)
        .dmaLength(length);
  }

  private RocePacket fetchAndAdd(int psn, int at) {
    return pair.toB(PacketOpcode.RC_FETCH_ADD, psn, 0)
        .remoteAddress(pair.atB.address + at)
        .remoteKey(pair.atB.key)
        .swapOrAdd(1);
  }

  private List<String> answers() {
    return pair.wire.sentBy(false).stream()
        .map(
            packet ->
                String.format("%02x", packet.opcode().code())
                    + " +"
                    + Psn.difference(packet.psn(), Pair.A_PSN)
                    + (packet.syndrome() < 0 ? "" : String.format(" %02x", packet.syndrome())))
        .toList();
  }

  @Test
  void acknowledgesADuplicateWriteWithItsPsn() {
    pair.deliverToB(write(Pair.A_PSN, 100));
    pair.deliverToB(write(Pair.A_PSN, 100));

    assertThat(answers()).containsExactly("11 +0 1f", "11 +0 1f");
  }

  @Test
  void doesNotWriteADuplicate() {
    pair.deliverToB(write(Pair.A_PSN, 100));
    pair.atB.bytes[5] = 99;
    pair.deliverToB(write(Pair.A_PSN, 100));

    assertThat(pair.atB.bytes[5]).isEqualTo((byte) 99);
  }

  @Test
  void acknowledgesAWriteOfNothingUnderNoKey() {
    pair.deliverToB(write(Pair.A_PSN, 0).remoteKey(0).remoteAddress(0));

    assertThat(answers()).containsExactly("11 +0 1f");
  }

  @Test
  void tellsTheExpectedPsnOnceOfAGap() {
    pair.deliverToB(write(Pair.A_PSN + 2, 10));
    pair.deliverToB(write(Pair.A_PSN + 3, 10));

    assertThat(answers()).containsExactly("11 +0 60");

    pair.deliverToB(write(Pair.A_PSN, 10));
    pair.deliverToB(write(Pair.A_PSN + 2, 10));

    assertThat(answers()).containsExactly("11 +0 60", "11 +0 1f", "11 +1 60");
  }

  @Test
  void isNotReadyForASendWithoutAReceive() {
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_ONLY, Pair.A_PSN, 10));

    assertThat(answers()).containsExactly("11 +0 " + Integer.toHexString(Aeth.rnrNak(12)));
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void refusesAMiddleWithoutAFirstAndDies() {
    pair.receiveAtB(1, 0, 5_000);
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_MIDDLE, Pair.A_PSN, Pair.MTU));
    pair.deliverToB(write(Pair.A_PSN, 10));

    assertThat(answers()).containsExactly("11 +0 61");
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void refusesABadKey() {
    pair.deliverToB(write(Pair.A_PSN, 10).remoteKey(0xbad));

    assertThat(answers()).containsExactly("11 +0 62");
  }

  @Test
  void refusesAReadBeyondTheRegion() {
    pair.deliverToB(read(Pair.A_PSN, Pair.SIZE - 99, 100));

    assertThat(answers()).containsExactly("11 +0 62");
  }

  @Test
  void refusesAMisalignedAtomicAsInvalid() {
    pair.deliverToB(fetchAndAdd(Pair.A_PSN, 4));

    assertThat(answers()).containsExactly("11 +0 61");
    assertThat(pair.b.host.atomicsDone).isZero();
  }

  @Test
  void answersAReadInPartsAndAgainFromAnyOfThem() {
    pair.deliverToB(read(Pair.A_PSN, 0, 2_500));
    pair.deliverToB(read(Pair.A_PSN + 1, Pair.MTU, 2_500 - Pair.MTU));
    pair.deliverToB(read(Pair.A_PSN, 0, 2_500));

    assertThat(answers())
        .containsExactly("0d +0", "0e +1", "0f +2", "0e +1", "0f +2", "0d +0", "0e +1", "0f +2");
    assertThat(pair.wire.sentBy(false))
        .extracting(packet -> packet.frame().payloadLength())
        .startsWith(1024, 1024, 452, 1024, 452);
  }

  @Test
  void answersADuplicateAtomicWithWhatItFoundFirst() {
    long value = pair.atB.getLong(8);
    pair.deliverToB(fetchAndAdd(Pair.A_PSN, 8));
    pair.deliverToB(fetchAndAdd(Pair.A_PSN + 1, 8));
    pair.deliverToB(fetchAndAdd(Pair.A_PSN, 8));

    assertThat(answers()).containsExactly("12 +0 1f", "12 +1 1f", "12 +0 1f");
    assertThat(pair.wire.sentBy(false))
        .extracting(packet -> packet.frame().original())
        .containsExactly(value, value + 1, value);
    assertThat(pair.atB.getLong(8)).isEqualTo(value + 2);
  }

  @Test
  void forgetsAtomicsBeyondItsResources() {
    for (int i = 0; i < 5; i++) {
      pair.deliverToB(fetchAndAdd(Psn.plus(Pair.A_PSN, i), 8));
    }
    pair.deliverToB(fetchAndAdd(Pair.A_PSN, 8));
    pair.deliverToB(fetchAndAdd(Psn.plus(Pair.A_PSN, 1), 8));

    assertThat(pair.b.host.atomicsDone).isEqualTo(5);
    assertThat(answers().subList(5, answers().size())).containsExactly("12 +1 1f");
  }

  @Test
  void isSilentToOtherTransportsAndCongestionNotes() {
    pair.deliverToB(pair.toB(PacketOpcode.UC_SEND_ONLY, Pair.A_PSN, 10));
    pair.deliverToB(pair.toB(PacketOpcode.UD_SEND_ONLY, Pair.A_PSN, 10));
    pair.deliverToB(pair.toB(PacketOpcode.CONGESTION_NOTIFICATION, Pair.A_PSN, 0));

    assertThat(answers()).isEmpty();
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void countsMessagesNotPackets() {
    pair.receiveAtB(1, 0, 5_000);
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_FIRST, Pair.A_PSN, Pair.MTU));
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_LAST, Pair.A_PSN + 1, 1));
    pair.deliverToB(fetchAndAdd(Pair.A_PSN + 2, 0));

    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::frame)
        .extracting(RocePacket::messageSequence)
        .containsExactly(0, 1, 2);
  }
}
