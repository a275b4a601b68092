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
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The transitions of a reliable queue pair with what each requires and what it takes besides: the
 * RC column of {@code qp_state_table} in the kernel's drivers/infiniband/core/verbs.c, without
 * alternate paths.
 */
final class TransitionTable {
  /** A transition; all others do not exist. */
  record Row(QueuePairState from, QueuePairState to, Set<Field> required, Set<Field> optional) {
    @Override
    public String toString() {
      return from + " to " + to;
    }
  }

  static final List<Row> ROWS = List.copyOf(rows());

  private TransitionTable() {}

  static boolean exists(QueuePairState from, QueuePairState to) {
    return ROWS.stream().anyMatch(row -> row.from == from && row.to == to);
  }

  static Row row(QueuePairState from, QueuePairState to) {
    return ROWS.stream().filter(row -> row.from == from && row.to == to).findFirst().orElseThrow();
  }

  private static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (QueuePairState state : QueuePairState.values()) {
      rows.add(new Row(state, RESET, Set.of(), Set.of()));
      if (state != RESET) {
        rows.add(new Row(state, ERR, Set.of(), Set.of()));
      }
    }
    rows.add(new Row(RESET, INIT, EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS), Set.of()));
    rows.add(new Row(INIT, INIT, Set.of(), EnumSet.of(PKEY_INDEX, PORT, ACCESS_FLAGS)));
    rows.add(
        new Row(
            INIT,
            RTR,
            EnumSet.of(AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER),
            EnumSet.of(ACCESS_FLAGS, PKEY_INDEX)));
    rows.add(
        new Row(
            RTR,
            RTS,
            EnumSet.of(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN, MAX_QP_RD_ATOMIC),
            EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER)));
    EnumSet<Field> running = EnumSet.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER);
    rows.add(new Row(RTS, RTS, Set.of(), running));
    rows.add(new Row(SQD, RTS, Set.of(), running));
    rows.add(new Row(RTS, SQD, Set.of(), EnumSet.of(EN_SQD_ASYNC_NOTIFY)));
    rows.add(
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
    rows.add(new Row(SQE, RTS, Set.of(), Set.of()));
    return rows;
  }
}
