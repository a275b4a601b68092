// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import static io.verbena.verbs.QueuePairAttributes.Field.ACCESS_FLAGS;
import static io.verbena.verbs.QueuePairAttributes.Field.AV;
import static io.verbena.verbs.QueuePairAttributes.Field.CUR_STATE;
import static io.verbena.verbs.QueuePairAttributes.Field.DEST_QPN;
import static io.verbena.verbs.QueuePairAttributes.Field.EN_SQD_ASYNC_NOTIFY;
import static io.verbena.verbs.QueuePairAttributes.Field.MAX_DEST_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttributes.Field.MAX_QP_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttributes.Field.MIN_RNR_TIMER;
import static io.verbena.verbs.QueuePairAttributes.Field.PATH_MTU;
import static io.verbena.verbs.QueuePairAttributes.Field.PKEY_INDEX;
import static io.verbena.verbs.QueuePairAttributes.Field.PORT;
import static io.verbena.verbs.QueuePairAttributes.Field.QKEY;
import static io.verbena.verbs.QueuePairAttributes.Field.RETRY_CNT;
import static io.verbena.verbs.QueuePairAttributes.Field.RNR_RETRY;
import static io.verbena.verbs.QueuePairAttributes.Field.RQ_PSN;
import static io.verbena.verbs.QueuePairAttributes.Field.SQ_PSN;
import static io.verbena.verbs.QueuePairAttributes.Field.STATE;
import static io.verbena.verbs.QueuePairAttributes.Field.TIMEOUT;
import static io.verbena.verbs.QueuePairState.ERR;
import static io.verbena.verbs.QueuePairState.INIT;
import static io.verbena.verbs.QueuePairState.RESET;
import static io.verbena.verbs.QueuePairState.RTR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.QueuePairState.SQE;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The transitions between states of a queue pair and the attributes that each needs: the rows of
 * the kernel's {@code qp_state_table} (drivers/infiniband/core/verbs.c), without alternate paths.
 */
public final class QueuePairTransitions {
  private record Row(
      QueuePairState from, QueuePairState to, Set<Field> required, Set<Field> optional) {}

  private static final List<Row> RC =
      List.of(
          new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS), Set.of()),
          new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS)),
          new Row(
              INIT,
              RTR,
              EnumSet.of(AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER),
              EnumSet.of(ACCESS_FLAGS, PKEY_INDEX)),
          new Row(
              RTR,
              RTS,
              EnumSet.of(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN, MAX_QP_RD_ATOMIC),
              EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
          new Row(RTS, RTS, Set.of(), EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
          new Row(RTS, SQD, Set.of(), EnumSet.of(EN_SQD_ASYNC_NOTIFY)),
          new Row(SQD, RTS, Set.of(), EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)),
          new Row(
              SQD,
              SQD,
              Set.of(),
              EnumSet.of(
                  PORT,
                  AV,
                  TIMEOUT,
                  RETRY_CNT,
                  RNR_RETRY,
                  MAX_QP_RD_ATOMIC,
                  MAX_DEST_RD_ATOMIC,
                  ACCESS_FLAGS,
                  PKEY_INDEX,
                  MIN_RNR_TIMER)));

  private static final List<Row> UC =
      List.of(
          new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS), Set.of()),
          new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS)),
          new Row(
              INIT,
              RTR,
              EnumSet.of(AV, PATH_MTU, DEST_QPN, RQ_PSN),
              EnumSet.of(ACCESS_FLAGS, PKEY_INDEX)),
          new Row(RTR, RTS, EnumSet.of(SQ_PSN), EnumSet.of(CUR_STATE, ACCESS_FLAGS)),
          new Row(RTS, RTS, Set.of(), EnumSet.of(CUR_STATE, ACCESS_FLAGS)),
          new Row(RTS, SQD, Set.of(), EnumSet.of(EN_SQD_ASYNC_NOTIFY)),
          new Row(SQD, RTS, Set.of(), EnumSet.of(CUR_STATE, ACCESS_FLAGS)),
          new Row(SQD, SQD, Set.of(), EnumSet.of(AV, ACCESS_FLAGS, PKEY_INDEX)),
          new Row(SQE, RTS, Set.of(), EnumSet.of(CUR_STATE, ACCESS_FLAGS)));

  private static final List<Row> UD =
      List.of(
          new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, QKEY), Set.of()),
          new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, QKEY)),
          new Row(INIT, RTR, Set.of(), EnumSet.of(PKEY_INDEX, QKEY)),
          new Row(RTR, RTS, EnumSet.of(SQ_PSN), EnumSet.of(CUR_STATE, QKEY)),
          new Row(RTS, RTS, Set.of(), EnumSet.of(CUR_STATE, QKEY)),
          new Row(RTS, SQD, Set.of(), EnumSet.of(EN_SQD_ASYNC_NOTIFY)),
          new Row(SQD, RTS, Set.of(), EnumSet.of(CUR_STATE, QKEY)),
          new Row(SQD, SQD, Set.of(), EnumSet.of(PKEY_INDEX, QKEY)),
          new Row(SQE, RTS, Set.of(), EnumSet.of(CUR_STATE, QKEY)));

  private QueuePairTransitions() {}

  /**
   * Checks a change, before a verb does anything.
   *
   * @param type the queue pair's type
   * @param from the current state
   * @param attributes the change
   * @param port the number of the device's port, the only valid one
   * @param gids the number of GIDs of the port, which limits the source GID index
   * @param device the limits on outstanding READs and atomics
   * @return the new state
   * @throws VerbsException {@code INVALID}, naming the transition or the attributes
   */
  public static QueuePairState check(
      QueuePairType type,
      QueuePairState from,
      QueuePairAttributes attributes,
      int port,
      int gids,
      DeviceAttributes device) {
    QueuePairState to = attributes.has(STATE) ? attributes.state() : from;
    if (attributes.has(CUR_STATE) && attributes.currentState() != from) {
      throw invalid("current state: " + attributes.currentState() + " (expected: " + from + ")");
    }
    Row row = find(type, from, to);
    EnumSet<Field> missing = EnumSet.noneOf(Field.class);
    missing.addAll(row.required);
    missing.removeAll(attributes.fields());
    if (!missing.isEmpty()) {
      throw invalid(from + " to " + to + " lacks " + missing);
    }
    EnumSet<Field> surplus = EnumSet.noneOf(Field.class);
    surplus.addAll(attributes.fields());
    surplus.remove(STATE);
    surplus.removeAll(row.required);
    surplus.removeAll(row.optional);
    if (!surplus.isEmpty()) {
      throw invalid(from + " to " + to + " does not take " + surplus);
    }
    checkRanges(attributes, port, gids, device);
    return to;
  }

  private static Row find(QueuePairType type, QueuePairState from, QueuePairState to) {
    if (to == RESET || (to == ERR && from != RESET)) {
      return new Row(from, to, Set.of(), Set.of());
    }
    List<Row> rows =
        switch (type) {
          case RC -> RC;
          case UC -> UC;
          case UD -> UD;
        };
    for (Row row : rows) {
      if (row.from == from && row.to == to) {
        return row;
      }
    }
    throw invalid("no transition from " + from + " to " + to);
  }

  private static void checkRanges(
      QueuePairAttributes attributes, int port, int gids, DeviceAttributes device) {
    range(attributes, PKEY_INDEX, attributes.pkeyIndex(), 0, 0);
    range(attributes, PORT, attributes.port(), port, port);
    AddressVector vector = attributes.addressVector();
    if (vector != null) {
      AddressLimits.check("modify queue pair: " + AV, vector, gids);
    }
    range(attributes, DEST_QPN, attributes.destinationQueuePair(), 0, 0xff_ffff);
    range(attributes, RQ_PSN, attributes.receivePsn(), 0, 0xff_ffff);
    range(attributes, SQ_PSN, attributes.sendPsn(), 0, 0xff_ffff);
    range(attributes, TIMEOUT, attributes.timeout(), 0, 31);
    range(attributes, RETRY_CNT, attributes.retryCount(), 0, 7);
    range(attributes, RNR_RETRY, attributes.rnrRetry(), 0, 7);
    range(attributes, MIN_RNR_TIMER, attributes.minRnrTimer(), 0, 31);
    int mostOut = device.maxReadAtomicAsInitiator();
    int mostIn = device.maxReadAtomicAsResponder();
    range(attributes, MAX_QP_RD_ATOMIC, attributes.maxReadAtomic(), 0, mostOut);
    range(attributes, MAX_DEST_RD_ATOMIC, attributes.maxDestinationReadAtomic(), 0, mostIn);
  }

  private static void range(
      QueuePairAttributes attributes, Field field, int value, int least, int most) {
    if (attributes.has(field) && (value < least || value > most)) {
      String expected = least == most ? String.valueOf(least) : least + ".." + most;
      throw invalid(field + ": " + value + " (expected: " + expected + ")");
    }
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, "modify queue pair: " + message);
  }
}
