// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two ends answer each other's messages; tests which acknowledgements they send besides. */
class AckDelayTest {
  private static final FlowControl ADAPTIVE =
      new FlowControl(64, 16, /* adaptive= */ true, /* lossless= */ false);
  private static final int WARM = AckDelay.FEW + 2;

  private final Pair pair = Pair.reliable(ADAPTIVE, attributes -> attributes.timeout(14));
  private int rounds;
  private int received;

  /** Answers each message at once, until B has received this many more messages. */
  private void answerEachOther(int messages) {
    rounds += messages;
    while (received < rounds) {
      int before = pair.b.host.receivesDone.size();
      sendToB();
      runUntil(() -> pair.b.host.receivesDone.size() > before);
      int beforeA = pair.a.host.receivesDone.size();
      sendToA();
      runUntil(() -> pair.a.host.receivesDone.size() > beforeA);
      received++;
    }
  }

  private void runUntil(BooleanSupplier done) {
    long limit = pair.time.now() + Pair.LIMIT_NANOS;
    while (!done.getAsBoolean()) {
      assertThat(pair.time.step(limit)).as("something is to happen").isTrue();
    }
  }

  private void sendToB() {
    pair.receiveAtB(received, 0, 64);
    pair.a.post(pair.send(received, 0, 64));
  }

  private void sendToA() {
    pair.a.postReceive(
        new ReceiveWorkRequest().id(received).buffer(pair.atA.address, 64, pair.atA.key));
    pair.b.post(
        new SendWorkRequest()
            .id(received)
            .send()
            .buffer(pair.atB.address, 64, pair.atB.key)
            .signaled());
  }

  private long acknowledgementsOfB() {
    return pair.wire.sentBy(false).stream()
        .map(Packet::opcode)
        .filter(PacketOpcode.RC_ACKNOWLEDGE::equals)
        .count();
  }

  @Test
  void oneStandsForSeveralMessagesThatAreAnsweredAtOnce() {
    answerEachOther(WARM);
    long before = acknowledgementsOfB();

    answerEachOther(10 * AckDelay.MOST);

    assertThat(acknowledgementsOfB() - before).isEqualTo(10);
    assertThat(pair.a.host.sendsDone).hasSizeGreaterThan(9 * AckDelay.MOST);
  }

  @Test
  void theLastOneComesWithoutAnotherMessageAndLongBeforeAnybodyAsks() {
    answerEachOther(WARM + AckDelay.MOST / 2);
    assertThat(pair.a.host.sendsDone).hasSizeLessThan(rounds);
    long last = pair.time.now();

    runUntil(() -> pair.a.host.sendsDone.size() == rounds);

    assertThat(pair.time.now() - last)
        .isLessThanOrEqualTo(AckDelay.LONGEST_NANOS + TestWire.FLIGHT_NANOS);
    assertThat(pair.wire.sentBy(true))
        .filteredOn(packet -> packet.opcode() == PacketOpcode.RC_SEND_ONLY)
        .as("nothing was sent again")
        .hasSize(rounds);
  }

  @Test
  void aMessageThatIsNotAnsweredIsAcknowledgedAtOnceAndAllBeforeItToo() {
    answerEachOther(WARM + 3);
    assertThat(pair.a.host.sendsDone).hasSizeLessThan(rounds);

    // A has sent nothing since the message before arrived.
    sendToB();
    pair.run(2 * TestWire.FLIGHT_NANOS);
    sendToB();
    pair.run(2 * TestWire.FLIGHT_NANOS);

    assertThat(pair.a.host.sendsDone).hasSize(rounds + 2);
  }

  @Test
  void aPeerThatWaitsForItIsHeldUpMoreAndMoreSeldom() {
    long held = 0;
    for (int i = 0; i < 10_000; i++) {
      long before = pair.time.now();
      int done = pair.a.host.sendsDone.size();
      answerEachOther(1);
      runUntil(() -> pair.a.host.sendsDone.size() > done);
      held += pair.time.now() - before >= AckDelay.LONGEST_NANOS ? 1 : 0;
    }
    assertThat(held).isBetween(2L, 12L);
  }

  @Test
  void aReadTellsOfWhatWasHeldBack() {
    answerEachOther(WARM + 3);
    pair.a.post(pair.read(99, 0, 64, 128));
    pair.run(3 * TestWire.FLIGHT_NANOS);

    assertThat(pair.a.host.sendsDone).hasSize(rounds + 1);
  }

  @Test
  void keepsRoomForWhatIsHeldBackWhenManyReadsComeAgain() {
    pair.a.post(pair.read(99, 0, 64, 128));
    pair.run(3 * TestWire.FLIGHT_NANOS);
    Packet request = pair.wire.sentBy(true).get(0);
    answerEachOther(WARM + 3);
    int before = pair.wire.sentBy(false).size();

    for (int i = 0; i < 40; i++) {
      pair.b.engine.receive(TestWire.copy(request.frame()));
    }
    pair.b.engine.answer();
    pair.run(2 * TestWire.FLIGHT_NANOS);

    assertThat(pair.wire.sentBy(false).stream().skip(before).map(Packet::opcode))
        .containsOnlyOnce(PacketOpcode.RC_ACKNOWLEDGE)
        .filteredOn(PacketOpcode.RC_READ_RESPONSE_ONLY::equals)
        .isNotEmpty();
    assertThat(pair.a.host.sendsDone).hasSize(rounds + 1);
  }

  @Test
  void whoGoesToErrorHasAcknowledgedWhatItTook() {
    answerEachOther(WARM + 3);
    pair.b.modify(QueuePairState.ERR);
    pair.run(2 * TestWire.FLIGHT_NANOS);

    assertThat(pair.a.host.sendsDone).hasSize(rounds);
  }

  @Test
  void aLostMessageIsFoundAndNoneIsTakenTwice() {
    answerEachOther(WARM + 3);
    pair.wire.fault = TestWire.dropping(pair.wire.sent.size());
    answerEachOther(4);
    pair.run();

    assertThat(pair.b.host.receivesDone).hasSize(rounds);
    assertThat(pair.a.host.sendsDone).hasSize(rounds);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void everyMessageComesOnceAndIsAcknowledgedOnAWireThatLosesAndDoubles(long seed) {
    Random random = new Random(seed);
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (random.nextInt(100) >= 3) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
          if (random.nextInt(100) < 3) {
            delivery.after(random.nextInt(50_000));
          }
        };

    answerEachOther(400);
    pair.run();

    assertThat(pair.b.host.receivesDone).hasSize(rounds);
    assertThat(pair.a.host.receivesDone).hasSize(rounds);
    assertThat(pair.a.host.sendsDone)
        .hasSize(rounds)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }
}
