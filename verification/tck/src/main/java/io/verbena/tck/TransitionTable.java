// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

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
import static io.verbena.verbs.QueuePairAttributes.Field.TIMEOUT;
import static io.verbena.verbs.QueuePairState.ERR;
import static io.verbena.verbs.QueuePairState.INIT;
import static io.verbena.verbs.QueuePairState.RESET;
import static io.verbena.verbs.QueuePairState.RTR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.QueuePairState.SQE;

import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The transitions of a queue pair type with their required and optional attributes, as in {@code
 * qp_state_table} of the kernel's drivers/infiniband/core/verbs.c, without alternate paths.
 */
final class TransitionTable {
  /** A valid transition. All transitions without a row are invalid. */
  record Row(QueuePairState from, QueuePairState to, Set<Field> required, Set<Field> optional) {
    @Override
    public String toString() {
      return from + " to " + to;
    }
  }

  private static final TransitionTable RELIABLE = new TransitionTable(reliable());
  private static final TransitionTable UNRELIABLE = new TransitionTable(unreliable());
  private static final TransitionTable DATAGRAMS = new TransitionTable(datagrams());

  private final List<Row> rows = new ArrayList<>();

  private TransitionTable(List<Row> own) {
    for (QueuePairState state : QueuePairState.values()) {
      rows.add(new Row(state, RESET, Set.of(), Set.of()));
      if (state != RESET) {
        rows.add(new Row(state, ERR, Set.of(), Set.of()));
      }
    }
    rows.add(new Row(RTS, SQD, Set.of(), EnumSet.of(EN_SQD_ASYNC_NOTIFY)));
    rows.addAll(own);
  }

  static TransitionTable of(QueuePairType type) {
    return switch (type) {
      case RC -> RELIABLE;
      case UC -> UNRELIABLE;
      case UD -> DATAGRAMS;
    };
  }

  List<Row> rows() {
    return rows;
  }

  boolean exists(QueuePairState from, QueuePairState to) {
    return rows.stream().anyMatch(row -> row.from == from && row.to == to);
  }

  Row row(QueuePairState from, QueuePairState to) {
    return rows.stream().filter(row -> row.from == from && row.to == to).findFirst().orElseThrow();
  }

  private static List<Row> reliable() {
    EnumSet<Field> running = EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER);
    return List.of(
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
        new Row(RTS, RTS, Set.of(), running),
        new Row(SQD, RTS, Set.of(), running),
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
                MIN_RNR_TIMER)),
        new Row(SQE, RTS, Set.of(), Set.of()));
  }

  private static List<Row> unreliable() {
    EnumSet<Field> running = EnumSet.of(CUR_STATE, ACCESS_FLAGS);
    return List.of(
        new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS), Set.of()),
        new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS)),
        new Row(
            INIT,
            RTR,
            EnumSet.of(AV, PATH_MTU, DEST_QPN, RQ_PSN),
            EnumSet.of(ACCESS_FLAGS, PKEY_INDEX)),
        new Row(RTR, RTS, EnumSet.of(SQ_PSN), running),
        new Row(RTS, RTS, Set.of(), running),
        new Row(SQD, RTS, Set.of(), running),
        new Row(SQD, SQD, Set.of(), EnumSet.of(AV, ACCESS_FLAGS, PKEY_INDEX)),
        new Row(SQE, RTS, Set.of(), running));
  }

  private static List<Row> datagrams() {
    EnumSet<Field> running = EnumSet.of(CUR_STATE, QKEY);
    return List.of(
        new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, QKEY), Set.of()),
        new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, QKEY)),
        new Row(INIT, RTR, Set.of(), EnumSet.of(PKEY_INDEX, QKEY)),
        new Row(RTR, RTS, EnumSet.of(SQ_PSN), running),
        new Row(RTS, RTS, Set.of(), running),
        new Row(SQD, RTS, Set.of(), running),
        new Row(SQD, SQD, Set.of(), EnumSet.of(PKEY_INDEX, QKEY)),
        new Row(SQE, RTS, Set.of(), running));
  }
}
