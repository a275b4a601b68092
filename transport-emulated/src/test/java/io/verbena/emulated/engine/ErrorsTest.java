// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.lang.reflect.Proxy;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests each completion status at the requester and the responder of a reliable connection. */
class ErrorsTest {
  private final Pair pair = Pair.reliable();

  private void expectAtA(String... completions) {
    assertThat(pair.a.host.sendsDone).extracting(Done::toString).containsExactly(completions);
    assertThat(pair.a.engine.state()).isEqualTo(QueuePairState.ERR);
    assertThat(pair.a.host.moves).containsExactly(QueuePairState.ERR);
  }

  private void expectAtB(String... completions) {
    assertThat(pair.b.host.receivesDone).extracting(Done::toString).containsExactly(completions);
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.ERR);
    assertThat(pair.b.host.moves).containsExactly(QueuePairState.ERR);
  }

  private void expectBUntouched() {
    assertThat(pair.b.host.moves).isEmpty();
    assertThat(pair.b.host.receivesDone).isEmpty();
    assertThat(pair.b.host.events).isEmpty();
  }

  // ---- the requester's own faults

  @ParameterizedTest
  @ValueSource(ints = {0, 4, 16})
  void failsAnAtomicThatIsNotOfEightBytesAsTooLong(int length) {
    pair.a.post(
        pair.fill(
            new SendWorkRequest().id(1).fetchAndAdd(pair.atB.address, pair.atB.key, 1), 0, length));
    pair.run();

    expectAtA("1 LOC_LEN_ERR");
    expectBUntouched();
  }

  @Test
  void failsAMessageBeyondTheLongestAsTooLong() {
    SendWorkRequest request = new SendWorkRequest(2).id(1).write(pair.atB.address, pair.atB.key);
    request.buffers().add(pair.atA.address, 1 << 30, pair.atA.key);
    request.buffers().add(pair.atA.address, 1, pair.atA.key);
    pair.a.post(request);

    expectAtA("1 LOC_LEN_ERR");
  }

  @Test
  void failsARequestOutOfAForeignKeyAsForbidden() {
    pair.a.post(pair.send(1, 0, 10).buffer(pair.atA.address, 10, 0xbad));
    pair.run();

    expectAtA("1 LOC_PROT_ERR");
    assertThat(pair.wire.sent).isEmpty();
  }

  @Test
  void sendsNothingOfARequestWhoseLastBufferIsForbidden() {
    SendWorkRequest request = new SendWorkRequest(2).id(1).write(pair.atB.address, pair.atB.key);
    request.buffers().add(pair.atA.address, 5_000, pair.atA.key);
    request.buffers().add(pair.atA.address + Pair.SIZE, 1, pair.atA.key);
    pair.a.post(request);

    expectAtA("1 LOC_PROT_ERR");
    assertThat(pair.wire.sent).isEmpty();
  }

  @Test
  void failsAReadIntoMemoryThatMayNotBeWritten() {
    Region readOnly = pair.a.host.register(100, 0);
    pair.a.post(pair.read(1, 0, 10, 0).buffer(readOnly.address, 10, readOnly.key));
    pair.run();

    expectAtA("1 LOC_PROT_ERR");
    expectBUntouched();
  }

  @Test
  void failsAnAtomicIntoMemoryThatMayNotBeWritten() {
    Region readOnly = pair.a.host.register(100, 0);
    pair.a.post(pair.fetchAndAdd(1, 0, 0, 1).buffer(readOnly.address, 8, readOnly.key));
    pair.run();

    expectAtA("1 LOC_PROT_ERR");
  }

  @Test
  void ignoresAReadThatComesAgainWhenItWasAnsweredAndItsMemoryIsGone() {
    pair.wire.fault =
        (index, packet, delivery) -> {
          delivery.after(TestWire.FLIGHT_NANOS);
          if (index == 0) {
            delivery.after(50 * TestWire.FLIGHT_NANOS);
          } else if (index == 1) {
            assertThat(pair.b.host.forget(pair.atB.key)).isTrue();
          }
        };
    pair.a.post(pair.read(1, 0, 100, 0));
    pair.run();

    assertThat(pair.wire.sentBy(false)).hasSize(2);
    assertThat(pair.wire.sentBy(false).get(1).syndrome()).isEqualTo(Aeth.REMOTE_ACCESS_ERROR);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RDMA_READ 100");
    assertThat(pair.a.host.moves).isEmpty();
    expectBUntouched();
  }

  @Test
  void failsAReadWhoseAnswerIsLostAndWhoseMemoryIsGoneThen() {
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index == 1) {
            assertThat(pair.b.host.forget(pair.atB.key)).isTrue();
          } else {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.post(pair.read(1, 0, 100, 0));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    expectBUntouched();
  }

  @Test
  void completesWhatIsBeforeALocalFailureFirst() {
    pair.a.queue(pair.write(1, 0, 5_000, 0));
    pair.a.queue(pair.read(2, 6_000, 3_000, 0));
    pair.a.queue(pair.send(3, 0, 10).buffer(pair.atA.address, 10, 0xbad));
    pair.a.queue(pair.write(4, 0, 10, 0));
    pair.a.run();

    assertThat(pair.a.host.sendsDone).isEmpty();

    pair.run();

    expectAtA(
        "1 SUCCESS RDMA_WRITE 5000",
        "2 SUCCESS RDMA_READ 3000",
        "3 LOC_PROT_ERR",
        "4 WR_FLUSH_ERR");
    expectBUntouched();
  }

  @Test
  void completesWhatIsBeforeALocalFailureFirstAlsoAfterALoss() {
    for (int lost = 0; lost < 11; lost++) {
      Pair lossy = Pair.reliable();
      lossy.wire.fault = TestWire.dropping(lost);
      lossy.a.queue(lossy.write(1, 0, 5_000, 0));
      lossy.a.queue(lossy.read(2, 6_000, 3_000, 0));
      lossy.a.queue(lossy.send(3, 0, 10).buffer(lossy.atA.address, 10, 0xbad));
      lossy.a.run();
      lossy.run();

      assertThat(lossy.a.host.sendsDone)
          .extracting(Done::toString)
          .containsExactly(
              "1 SUCCESS RDMA_WRITE 5000", "2 SUCCESS RDMA_READ 3000", "3 LOC_PROT_ERR");
    }
  }

  @Test
  void failsARequestWhoseMemoryDiesBeforeItIsSentAgain() {
    Region dying = pair.a.host.register(5_000);
    pair.wire.fault = TestWire.dropping(1);
    pair.a.post(
        new SendWorkRequest()
            .id(1)
            .write(pair.atB.address, pair.atB.key)
            .buffer(dying.address, 5_000, dying.key));
    pair.a.host.forget(dying.key);
    pair.run();

    expectAtA("1 LOC_PROT_ERR");
  }

  @Test
  void failsALocalInvalidateOfNoKey() {
    pair.a.queue(pair.write(1, 0, 10, 0));
    pair.a.queue(new SendWorkRequest().id(2).localInvalidate(0xbad));
    pair.a.run();
    pair.run();

    expectAtA("1 SUCCESS RDMA_WRITE 10", "2 LOC_QP_OP_ERR");
  }

  @Test
  void failsARefusedBind() {
    pair.a.host.bindRefused = true;
    pair.a.post(
        new SendWorkRequest().id(1).localInvalidate(pair.a.host.register(1).key).signaled());
    pair.a.post(bind(2));
    pair.run();

    expectAtA("1 SUCCESS LOCAL_INV 0", "2 MW_BIND_ERR");
  }

  private SendWorkRequest bind(long id) {
    return new SendWorkRequest()
        .id(id)
        .bind(untouched(MemoryWindow.class), 0, untouched(MemoryRegion.class), 0)
        .signaled();
  }

  /** Returns an object whose methods the engine must not call. */
  private static <T> T untouched(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              throw new AssertionError(method);
            }));
  }

  @Test
  void bindsAndInvalidatesInOrderWithWhatIsSent() {
    Region region = pair.a.host.register(100);
    pair.a.queue(pair.write(1, 0, 10, 0).buffer(region.address, 10, region.key));
    pair.a.queue(bind(2));
    pair.a.queue(new SendWorkRequest().id(3).localInvalidate(region.key).signaled());
    pair.a.queue(pair.write(4, 0, 10, 0));
    pair.a.run();

    assertThat(pair.a.host.knows(region.key)).isTrue();

    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly(
            "1 SUCCESS RDMA_WRITE 10",
            "2 SUCCESS BIND_MW 0",
            "3 SUCCESS LOCAL_INV 0",
            "4 SUCCESS RDMA_WRITE 10");
    assertThat(pair.a.host.knows(region.key)).isFalse();
    assertThat(pair.a.host.bound).hasSize(1);
  }

  @Test
  void doesALocalOperationOnceThoughPacketsAreSentAgain() {
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index > 3) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.queue(pair.write(1, 0, 10, 0));
    pair.a.queue(bind(2));
    pair.a.queue(pair.write(3, 0, 10, 0));
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.bound).hasSize(1);
    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L, 3L);
  }

  @ParameterizedTest
  @CsvSource({"1023, FIRST", "1025, FIRST", "1024, LAST"})
  void failsAReadWhoseResponseIsOfAnotherLength(int length, String kind) {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.read(1, 0, kind.equals("LAST") ? 10 : 2_000, 0));
    answerA(
        new RocePacket()
            .start(
                kind.equals("LAST")
                    ? PacketOpcode.RC_READ_RESPONSE_ONLY
                    : PacketOpcode.RC_READ_RESPONSE_FIRST)
            .psn(Pair.A_PSN)
            .payloadLength(length)
            .syndrome(Aeth.ack(31)));

    expectAtA("1 LOC_LEN_ERR");
  }

  @Test
  void failsARequestThatGetsTheAnswerOfAnother() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.write(1, 0, 10, 0));
    answerA(
        new RocePacket()
            .start(PacketOpcode.RC_ATOMIC_ACKNOWLEDGE)
            .psn(Pair.A_PSN)
            .syndrome(Aeth.ack(31)));

    expectAtA("1 BAD_RESP_ERR");
  }

  @Test
  void failsAReadThatEndsTooEarly() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.read(1, 0, 3_000, 0));
    answerA(
        new RocePacket()
            .start(PacketOpcode.RC_READ_RESPONSE_ONLY)
            .psn(Pair.A_PSN)
            .payloadLength(Pair.MTU)
            .syndrome(Aeth.ack(31)));

    expectAtA("1 BAD_RESP_ERR");
  }

  private void answerA(RocePacket answer) {
    pair.a.receive(TestWire.copy(answer.destinationQueuePair(pair.a.number)));
  }

  // ---- the responder refuses

  @Test
  void refusesASendLargerThanItsReceive() {
    pair.receiveAtB(9, 0, 1_500);
    pair.a.post(pair.send(1, 0, 1_501));
    pair.run();

    expectAtA("1 REM_INV_REQ_ERR");
    expectAtB("9 LOC_LEN_ERR");
    assertThat(pair.b.host.events).isEmpty();
  }

  @Test
  void flushesTheOtherReceivesAndSendsAfterARefusal() {
    pair.receiveAtB(8, 0, 10);
    pair.receiveAtB(9, 0, 1_500);
    pair.b.queue(new SendWorkRequest().id(7).write(0, 0));
    pair.a.queue(pair.send(1, 0, 11));
    pair.a.queue(pair.send(2, 0, 10));
    pair.a.run();
    pair.run();

    expectAtA("1 REM_INV_REQ_ERR", "2 WR_FLUSH_ERR");
    expectAtB("8 LOC_LEN_ERR", "9 WR_FLUSH_ERR");
    assertThat(pair.b.host.sendsDone).extracting(Done::toString).containsExactly("7 WR_FLUSH_ERR");
  }

  @Test
  void failsAReceiveIntoMemoryThatMayNotBeWritten() {
    Region readOnly = pair.b.host.register(100, 0);
    pair.b.postReceive(new ReceiveWorkRequest().id(9).buffer(readOnly.address, 10, readOnly.key));
    pair.a.post(pair.send(1, 0, 10));
    pair.run();

    expectAtA("1 REM_OP_ERR");
    expectAtB("9 LOC_PROT_ERR");
  }

  @Test
  void refusesWhatTheQueuePairDoesNotAllow() {
    for (Operation operation :
        EnumSet.of(Operation.WRITE, Operation.READ, Operation.FETCH_AND_ADD)) {
      Pair strict = Pair.reliable(attributes -> attributes.access(Set.of()));
      operation.post(strict, 1);
      strict.run();

      assertThat(strict.a.host.sendsDone)
          .extracting(Done::toString)
          .containsExactly("1 REM_INV_REQ_ERR");
      assertThat(strict.b.host.events).containsExactly(AsyncEvent.Type.QP_REQ_ERR);
      assertThat(strict.b.engine.state()).isEqualTo(QueuePairState.ERR);
    }
  }

  @Test
  void refusesReadsWithoutResourcesForThem() {
    Pair poor = Pair.reliable(attributes -> attributes.maxDestinationReadAtomic(0));
    poor.a.post(poor.read(1, 0, 10, 0));
    poor.run();

    assertThat(poor.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 REM_INV_REQ_ERR");
  }

  @Test
  void takesReadsOnceItHasResourcesForThem() {
    Pair poor = Pair.reliable(attributes -> attributes.maxDestinationReadAtomic(0));
    poor.b.modify(QueuePairState.SQD);
    poor.b.attributes.maxDestinationReadAtomic(4);
    poor.b.modify(QueuePairState.SQD);

    poor.a.post(poor.read(1, 0, 10, 0));
    poor.run();

    assertThat(poor.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS RDMA_READ 10");
  }

  @Test
  void refusesReadsOnceItHasNoResourcesForThem() {
    pair.b.modify(QueuePairState.SQD);
    pair.b.attributes.maxDestinationReadAtomic(0);
    pair.b.modify(QueuePairState.SQD);

    pair.a.post(pair.read(1, 0, 10, 0));
    pair.run();

    expectAtA("1 REM_INV_REQ_ERR");
  }

  @Test
  void refusesAWriteUnderABadKey() {
    pair.receiveAtB(9, 0, 10);
    pair.a.post(pair.fill(new SendWorkRequest().id(1).write(pair.atB.address, 0xbad), 0, 10));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    expectAtB("9 WR_FLUSH_ERR");
    assertThat(pair.b.host.events).containsExactly(AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void failsTheReceiveThatARefusedWriteHadTaken() {
    pair.receiveAtB(9, 0, 10);
    pair.a.post(
        pair.fill(
            new SendWorkRequest().id(1).writeWithImmediate(pair.atB.address, 0xbad, 5), 0, 10));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    expectAtB("9 REM_ACCESS_ERR");
    assertThat(pair.b.host.events).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {Pair.SIZE - 3_000, -1})
  void writesNoByteOfAMessageThatDoesNotFit(int at) {
    byte[] before = pair.atB.bytes.clone();
    pair.a.post(pair.write(1, 0, 3_001, at));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    assertThat(pair.atB.bytes).isEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource({"READ, 4", "WRITE, 2", "FETCH_AND_ADD, 8"})
  void needsTheRightThatTheOperationUses(Operation operation, int right) {
    Region weak = pair.b.host.register(64, TestHost.ALL & ~right);
    SendWorkRequest request =
        switch (operation) {
          case READ -> new SendWorkRequest().read(weak.address, weak.key);
          case WRITE -> new SendWorkRequest().write(weak.address, weak.key);
          default -> new SendWorkRequest().fetchAndAdd(weak.address, weak.key, 1);
        };
    assertThat(right)
        .isIn(Access.REMOTE_READ.bit(), Access.REMOTE_WRITE.bit(), Access.REMOTE_ATOMIC.bit());
    pair.a.post(pair.fill(request.id(1), 0, 8));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    assertThat(pair.b.host.atomicsDone).isZero();
  }

  @Test
  void failsWhereTheMemoryItselfIsGone() {
    pair.atB.gone = true;
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.run();

    expectAtA("1 REM_OP_ERR");
  }

  @Test
  void stopsAWriteWhoseKeyDiesWithinIt() {
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.opcode() == PacketOpcode.RC_WRITE_LAST) {
            pair.time.after(TestWire.FLIGHT_NANOS, () -> pair.b.host.forget(pair.atB.key));
          }
          delivery.after(TestWire.FLIGHT_NANOS);
        };
    pair.a.post(pair.write(1, 0, 3_000, 0));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
  }

  @Test
  void stopsAReadWhoseKeyDiesBeforeAllIsSent() {
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.opcode() == PacketOpcode.RC_READ_RESPONSE_MIDDLE) {
            pair.b.host.forget(pair.atB.key);
          }
          delivery.after(TestWire.FLIGHT_NANOS);
        };
    pair.a.post(pair.read(1, 0, 4_000, 0));
    pair.run();

    expectAtA("1 REM_ACCESS_ERR");
    assertThat(pair.b.host.events).containsExactly(AsyncEvent.Type.QP_ACCESS_ERR);
  }

  @Test
  void acknowledgesASendWhoseKeyCannotBeInvalidatedButFailsItsReceive() {
    pair.receiveAtB(9, 0, 10);
    pair.a.post(pair.fill(new SendWorkRequest().id(1).sendWithInvalidate(0xbad), 0, 10));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS SEND 10");
    expectAtB("9 REM_INV_REQ_ERR");
  }

  @Test
  void failsTheReceiveOfAMessageThatIsBrokenOff() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.receiveAtB(9, 0, 5_000);
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_FIRST, Pair.A_PSN, Pair.MTU));
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_ONLY, Pair.A_PSN + 1, 10));

    expectAtB("9 REM_INV_REQ_ERR");
  }

  @ParameterizedTest
  @CsvSource({"RC_SEND_FIRST, 1023", "RC_SEND_FIRST, 1025", "RC_SEND_ONLY, 1025"})
  void refusesPacketsOfAWrongLength(PacketOpcode opcode, int payload) {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.receiveAtB(9, 0, 5_000);
    pair.deliverToB(pair.toB(opcode, Pair.A_PSN, payload));

    expectAtB("9 REM_INV_REQ_ERR");
    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::syndrome)
        .containsExactly(Aeth.INVALID_REQUEST);
  }

  @ParameterizedTest
  @CsvSource({"1024, 1024", "2049, 1023"})
  void refusesAWriteWhoseLengthsContradictEachOther(int announced, int payload) {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.deliverToB(
        pair.toB(PacketOpcode.RC_WRITE_FIRST, Pair.A_PSN, payload)
            .remoteAddress(pair.atB.address)
            .remoteKey(pair.atB.key)
            .dmaLength(announced));

    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::syndrome)
        .containsExactly(Aeth.INVALID_REQUEST);
    assertThat(pair.b.host.events).containsExactly(AsyncEvent.Type.QP_REQ_ERR);
  }

  @Test
  void refusesALengthBeyondTwoToThePowerOfThirtyOne() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.deliverToB(
        pair.toB(PacketOpcode.RC_READ_REQUEST, Pair.A_PSN, 0)
            .remoteAddress(pair.atB.address)
            .remoteKey(pair.atB.key)
            .dmaLength((1L << 31) + 1));

    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::syndrome)
        .containsExactly(Aeth.INVALID_REQUEST);
  }

  // ---- states

  @Test
  void flushesAllThatIsPostedInError() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.a.modify(QueuePairState.ERR);
    pair.a.post(pair.write(2, 0, 10, 0));
    pair.a.postReceive(new ReceiveWorkRequest().id(3));

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 WR_FLUSH_ERR", "2 WR_FLUSH_ERR");
    assertThat(pair.a.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("3 WR_FLUSH_ERR");
    assertThat(pair.a.host.moves).isEmpty();
  }

  @Test
  void flushesTheReceiveOfAMessageThatNeverEnds() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.receiveAtB(9, 0, 5_000);
    pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_FIRST, Pair.A_PSN, Pair.MTU));
    pair.b.modify(QueuePairState.ERR);

    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("9 WR_FLUSH_ERR");
  }

  @Test
  void keepsTheReceivesOfASharedQueueAndTellsThatTheLastOneIsTaken() {
    Pair sharing = Pair.sharingReceives(QueuePairType.RC);
    sharing.receiveAtB(9, 0, 5_000);
    sharing.b.modify(QueuePairState.ERR);

    assertThat(sharing.b.host.receivesDone).isEmpty();
    assertThat(sharing.b.host.receives).hasSize(1);

    sharing.b.modify(QueuePairState.ERR);

    assertThat(sharing.b.host.events).containsExactly(AsyncEvent.Type.QP_LAST_WQE_REACHED);
  }

  @Test
  void forgetsAllInReset() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.a.modify(QueuePairState.RESET);
    pair.run();

    assertThat(pair.a.host.sendsDone).isEmpty();
    assertThat(pair.wire.sent).hasSize(1);
  }

  @Test
  void takesNoLateAnswerForOneToWhatWasReset() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.read(1, 0, 10, 0));
    for (QueuePairState state :
        new QueuePairState[] {QueuePairState.RESET, QueuePairState.INIT, QueuePairState.RTR}) {
      pair.a.modify(state);
    }
    answerA(
        new RocePacket()
            .start(PacketOpcode.RC_READ_RESPONSE_ONLY)
            .psn(Pair.A_PSN)
            .payloadLength(10)
            .syndrome(Aeth.ack(31)));

    assertThat(pair.a.host.sendsDone).isEmpty();
    assertThat(pair.a.host.moves).isEmpty();
  }

  @Test
  void goesToErrorOnceThoughAReadThatIsOwedFailsToo() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.b.engine.receive(
        TestWire.copy(
            pair.toB(PacketOpcode.RC_READ_REQUEST, Pair.A_PSN, 0)
                .remoteAddress(pair.atB.address)
                .remoteKey(pair.atB.key)
                .dmaLength(10)));
    pair.b.host.forget(pair.atB.key);
    pair.b.engine.receive(
        TestWire.copy(pair.toB(PacketOpcode.RC_SEND_MIDDLE, Pair.A_PSN + 1, Pair.MTU)));
    pair.b.run();

    assertThat(pair.b.host.moves).containsExactly(QueuePairState.ERR);
    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::syndrome)
        .containsExactly(Aeth.REMOTE_ACCESS_ERROR);
  }

  @Test
  void worksAgainAfterReset() {
    pair.a.post(pair.write(1, 0, 10, 0).buffer(pair.atA.address, 10, 0xbad));
    pair.b.modify(QueuePairState.RESET);
    pair.a.modify(QueuePairState.RESET);
    for (End end : new End[] {pair.a, pair.b}) {
      end.modify(QueuePairState.INIT);
      end.modify(QueuePairState.RTR);
      end.modify(QueuePairState.RTS);
    }
    pair.a.host.sendsDone.clear();
    Operation.READ.doOn(pair);
  }

  @Test
  void isSilentInErrorResetAndInit() {
    pair.wire.fault = (index, packet, delivery) -> {};
    for (QueuePairState state :
        new QueuePairState[] {QueuePairState.ERR, QueuePairState.RESET, QueuePairState.INIT}) {
      pair.b.modify(state);
      pair.deliverToB(pair.toB(PacketOpcode.RC_SEND_ONLY, Pair.A_PSN + 1, 0));
    }

    assertThat(pair.wire.sent).isEmpty();
  }

  @Test
  void tellsOnceThatThePeerIsThereBeforeReadyToSend() {
    for (QueuePairState state :
        new QueuePairState[] {QueuePairState.RESET, QueuePairState.INIT, QueuePairState.RTR}) {
      pair.b.modify(state);
    }
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.a.post(pair.write(2, 0, 10, 0));
    pair.run();

    assertThat(pair.b.host.events).containsExactly(AsyncEvent.Type.COMM_EST);
    assertThat(pair.a.host.sendsDone).hasSize(2);
  }
}
