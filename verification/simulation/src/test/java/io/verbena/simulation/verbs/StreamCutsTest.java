// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests a short exchange over iWARP, beginning with the MPA request, with the same fault at each of
 * its bytes in turn.
 */
@Tag("once")
class StreamCutsTest {
  private static final long LATENCY = 1000;
  private static final int LENGTH = 96;

  /** A lower bound of the bytes in each direction, which fails if a segment is missing. */
  private static final int LEAST_BYTES = 600;

  private final Arena arena = new Arena();

  @ParameterizedTest
  @CsvSource({"0, OPEN", "0, CRC", "0, LOCKED", "1, OPEN", "1, CRC", "1, LOCKED"})
  void holdsWhereverTheBytesAreSplitAndHeldUp(int source, Kind kind) {
    holdsAtEachByte(
        kind,
        at ->
            new Fault(
                Fault.Kind.DELAY,
                source,
                1 - source,
                0,
                Long.MAX_VALUE,
                at,
                Fault.ALWAYS,
                5 * LATENCY,
                at));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void holdsWhereverTheConnectionEnds(int source, int how) {
    // A reset may lose received bytes that were not read; the salt decides.
    holdsAtEachByte(Kind.CRC, at -> StreamScenarios.reset(source, 1 - source, at, how, at));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1"})
  void holdsWhereverALockedConnectionEnds(int source, int how) {
    holdsAtEachByte(Kind.LOCKED, at -> StreamScenarios.reset(source, 1 - source, at, how, at));
  }

  private enum Kind {
    OPEN,
    CRC,
    LOCKED
  }

  private interface FaultAt {
    Fault number(int at);
  }

  private void holdsAtEachByte(Kind kind, FaultAt fault) {
    int at = 0;
    RunResult result = run(kind, fault.number(at));
    while (result.injectedFaults() > 0) {
      assertThat(result.failure()).as("byte %d", at).isNull();
      at++;
      result = run(kind, fault.number(at));
    }
    assertThat(at).as("bytes of the conversation").isGreaterThan(LEAST_BYTES);
  }

  private RunResult run(Kind kind, Fault fault) {
    List<Operation> operations = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      add(operations, side, OperationKind.GRANT_KEY, 0);
      add(operations, side, OperationKind.SEND, LENGTH);
      add(operations, side, OperationKind.WRITE, LENGTH - 1);
      add(operations, side, OperationKind.READ, LENGTH / 2);
      add(operations, side, OperationKind.SEND, 0);
      add(operations, side, OperationKind.WRITE_IMMEDIATE, LENGTH / 3);
      add(operations, side, OperationKind.FETCH_ADD, Long.BYTES);
      add(operations, side, OperationKind.COMPARE_SWAP, Long.BYTES);
      add(operations, side, OperationKind.SEND_WITH_INVALIDATE, 5);
    }
    ConnectionConfig link =
        new ConnectionConfig(
            QueuePairType.RC,
            0,
            1,
            Mtu.MTU_4096,
            0,
            0,
            0,
            0,
            0,
            0,
            2,
            8,
            /* signalAll= */ false,
            kind == Kind.CRC,
            /* extensions= */ true,
            kind == Kind.LOCKED);
    VerbsScenario scenario =
        new VerbsScenario(
            7,
            Medium.STREAMS,
            LENGTH,
            2,
            false,
            false,
            List.of(link),
            operations,
            new FaultSchedule(LATENCY, List.of(fault)));
    return scenario.run(arena, null, null);
  }

  private static void add(List<Operation> to, int side, OperationKind kind, int length) {
    int number = to.size();
    to.add(
        new Operation(
            number,
            number * LATENCY,
            0,
            side,
            kind,
            length,
            0,
            number,
            true,
            false,
            false,
            2,
            false,
            0));
  }
}
