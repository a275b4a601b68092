// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.CompletionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One loss, duplicate or delay at each packet of each operation. */
class LossTest {
  private static final int MOST_PACKETS = 12;

  static Stream<Arguments> eachPacketOfEachOperation() {
    return Stream.of(Operation.values())
        .flatMap(
            operation -> {
              Pair pair = Pair.reliable();
              operation.doOn(pair);
              assertThat(pair.wire.sent).hasSizeLessThan(MOST_PACKETS);
              return Stream.iterate(0, i -> i + 1)
                  .limit(pair.wire.sent.size())
                  .map(i -> Arguments.of(operation, i));
            });
  }

  @ParameterizedTest
  @MethodSource("eachPacketOfEachOperation")
  void survivesTheLossOf(Operation operation, int packet) {
    Pair pair = Pair.reliable();
    pair.wire.fault = TestWire.dropping(packet);
    operation.doOn(pair);
  }

  @ParameterizedTest
  @MethodSource("eachPacketOfEachOperation")
  void survivesTheDoublingOf(Operation operation, int packet) {
    Pair pair = Pair.reliable();
    pair.wire.fault =
        (index, sent, delivery) -> {
          delivery.after(TestWire.FLIGHT_NANOS);
          if (index == packet) {
            delivery.after(TestWire.FLIGHT_NANOS);
            delivery.after(50 * TestWire.FLIGHT_NANOS);
          }
        };
    operation.doOn(pair);
  }

  @ParameterizedTest
  @MethodSource("eachPacketOfEachOperation")
  void survivesTheDelayOf(Operation operation, int packet) {
    Pair pair = Pair.reliable();
    pair.wire.fault =
        (index, sent, delivery) ->
            delivery.after(TestWire.FLIGHT_NANOS * (index == packet ? 30_000 : 1));
    operation.doOn(pair);
  }

  @ParameterizedTest
  @MethodSource("eachPacketOfEachOperation")
  void survivesTheLossOfAPacketAndOfWhatFollows(Operation operation, int packet) {
    for (int more = 1; more < MOST_PACKETS; more++) {
      int second = packet + more;
      Pair pair = Pair.reliable();
      pair.wire.fault =
          (index, sent, delivery) -> {
            if (index != packet && index != second) {
              delivery.after(TestWire.FLIGHT_NANOS);
            }
          };
      operation.doOn(pair);
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesAWireThatTurnsNeighboursRound(Operation operation) {
    Pair pair = Pair.reliable();
    pair.wire.fault =
        (index, sent, delivery) -> delivery.after(TestWire.FLIGHT_NANOS * (index % 2 == 0 ? 3 : 1));
    operation.doOn(pair);
  }

  @Test
  void doesAllInOrderWhateverOnePacketIsLost() {
    int packets = mixed(TestWire.NONE).wire.sent.size();
    for (int lost = 0; lost < packets; lost++) {
      mixed(TestWire.dropping(lost));
    }
  }

  private static Pair mixed(TestWire.Fault fault) {
    Pair pair = Pair.reliable();
    pair.wire.fault = fault;
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      pair.receiveAtB(100 + i, 20_000 + 1_000 * i, 1_000);
    }
    long value = pair.atB.getLong(8_000);
    pair.a.queue(pair.send(0, 0, 500));
    pair.a.queue(pair.read(1, 10_000, 3_000, 40_000));
    pair.a.queue(pair.write(2, 0, 2_500, 30_000));
    pair.a.queue(pair.fetchAndAdd(3, 9_000, 8_000, 1));
    pair.a.queue(pair.send(4, 500, 0));
    pair.a.queue(pair.read(5, 13_000, 10, 43_000));
    pair.a.queue(pair.fetchAndAdd(6, 9_008, 8_000, 1));
    pair.a.queue(pair.send(7, 500, 1_000));
    for (long i = 0; i < 8; i++) {
      ids.add(i);
    }
    pair.a.run();
    pair.run();
    assertThat(pair.a.host.sendsDone).extracting(Done::id).isEqualTo(ids);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
    assertThat(pair.b.host.receivesDone)
        .extracting(Done::id, Done::byteLength)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(100L, 500),
            org.assertj.core.groups.Tuple.tuple(101L, 0),
            org.assertj.core.groups.Tuple.tuple(102L, 1_000));
    assertThat(pair.b.host.atomicsDone).isEqualTo(2);
    assertThat(pair.atA.getLong(9_000)).isEqualTo(value);
    assertThat(pair.atA.getLong(9_008)).isEqualTo(value + 1);
    assertThat(Operation.part(pair.atA.bytes, 10_000, 3_010))
        .isEqualTo(Operation.part(pair.atB.bytes, 40_000, 3_010));
    assertThat(Operation.part(pair.atB.bytes, 30_000, 2_500))
        .isEqualTo(Operation.part(pair.atA.bytes, 0, 2_500));
    return pair;
  }

  @Test
  void asksForAReadAgainFromWhereItBroke() {
    Pair pair = Pair.reliable();
    int[] lost = {0};
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.psn() == Pair.A_PSN + 2 && !packet.fromA() && lost[0]++ == 0) {
            return;
          }
          delivery.after(TestWire.FLIGHT_NANOS);
        };
    pair.a.post(pair.read(1, 0, 5 * Pair.MTU, 0));
    pair.run();

    List<TestWire.Packet> requests = pair.wire.sentBy(true);
    assertThat(requests).hasSize(2);
    assertThat(requests.get(1).opcode()).isEqualTo(PacketOpcode.RC_READ_REQUEST);
    assertThat(requests.get(1).psn()).isEqualTo(Pair.A_PSN + 2);
    assertThat(requests.get(1).frame().remoteAddress()).isEqualTo(pair.atB.address + 2 * Pair.MTU);
    assertThat(requests.get(1).frame().dmaLength()).isEqualTo(3 * Pair.MTU);
    assertThat(Operation.part(pair.atA.bytes, 0, 5 * Pair.MTU))
        .isEqualTo(Operation.part(pair.atB.bytes, 0, 5 * Pair.MTU));
  }
}
