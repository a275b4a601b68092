package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
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
import static io.verbena.verbs.QueuePairAttributes.Field.STATE;
import static io.verbena.verbs.QueuePairAttributes.Field.TIMEOUT;
import static io.verbena.verbs.QueuePairState.ERR;
import static io.verbena.verbs.QueuePairState.INIT;
import static io.verbena.verbs.QueuePairState.RESET;
import static io.verbena.verbs.QueuePairState.RTR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.QueuePairState.SQE;
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Which state may follow which, and with which attributes. The expectation is the RC column of
 * {@code qp_state_table} in the kernel's drivers/infiniband/core/verbs.c.
 */
abstract class QueuePairTransitionTests extends VerbsTests {
  private static final int PSN = 0x12_3456;

  private record Row(
      QueuePairState from, QueuePairState to, Set<Field> required, Set<Field> optional) {
    @Override
    public String toString() {
      return from + " to " + to;
    }
  }

  private static final List<Row> TABLE = table();

  QueuePairTransitionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void takesEachTransitionWithJustWhatItRequires() {
    SoftAssertions.assertSoftly(
        all -> {
          for (Row row : possible()) {
            QueuePair queuePair = in(row.from);
            all.assertThatCode(() -> queuePair.modify(attributes(row.to, row.required)))
                .as("%s with %s", row, row.required)
                .doesNotThrowAnyException();
            all.assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.to);
          }
        });
  }

  @Test
  void takesEachOptionalAttribute() {
    SoftAssertions.assertSoftly(
        all -> {
          for (Row row : possible()) {
            for (Field field : row.optional) {
              QueuePair queuePair = in(row.from);
              Set<Field> fields = with(row.required, field);
              all.assertThatCode(() -> queuePair.modify(attributes(row.to, fields, row.from)))
                  .as("%s with %s", row, fields)
                  .doesNotThrowAnyException();
              all.assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.to);
            }
          }
        });
  }

  @Test
  void refusesEachTransitionThatLacksARequiredAttribute() {
    SoftAssertions.assertSoftly(
        all -> {
          for (Row row : possible()) {
            for (Field field : row.required) {
              Set<Field> fields = without(row.required, field);
              refuses(all, row + " without " + field, field, row, attributes(row.to, fields));
            }
          }
        });
  }

  @Test
  void refusesEachAttributeThatDoesNotBelongToTheTransition() {
    SoftAssertions.assertSoftly(
        all -> {
          for (Row row : possible()) {
            EnumSet<Field> foreign = EnumSet.allOf(Field.class);
            foreign.remove(STATE);
            foreign.removeAll(row.required);
            foreign.removeAll(row.optional);
            for (Field field : foreign) {
              refuses(
                  all,
                  row + " with " + field,
                  field,
                  row,
                  attributes(row.to, with(row.required, field), row.from));
            }
          }
        });
  }

  @Test
  void refusesEachTransitionThatDoesNotExist() {
    Set<Field> everything = EnumSet.allOf(Field.class);
    SoftAssertions.assertSoftly(
        all -> {
          for (QueuePairState from : reachable()) {
            for (QueuePairState to : QueuePairState.values()) {
              if (TABLE.stream().anyMatch(row -> row.from == from && row.to == to)) {
                continue;
              }
              Row row = new Row(from, to, Set.of(), Set.of());
              // SQD is also refused by a device that has no such state at all.
              boolean either = to == SQD && !tck.supports(Capability.SEND_QUEUE_DRAIN);
              for (Set<Field> fields : List.of(EnumSet.of(STATE), everything)) {
                QueuePair queuePair = in(from);
                Throwable failed =
                    catchThrowable(() -> queuePair.modify(attributes(to, fields, from)));
                all.assertThat(errorOf(failed))
                    .as("%s with %s", row, fields)
                    .isIn(either ? Set.of(INVALID, NOT_SUPPORTED) : Set.of(INVALID));
                all.assertThat(queuePair.state()).as("state after %s", row).isEqualTo(from);
              }
            }
          }
        });
  }

  @Test
  void refusesToDrainWhereTheDeviceCannot() {
    QueuePair queuePair = in(RTS);

    if (tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      queuePair.modify(Steps.toState(SQD));
      assertThat(queuePair.state()).isEqualTo(SQD);
    } else {
      expectFailure(NOT_SUPPORTED, () -> queuePair.modify(Steps.toState(SQD)));
      assertThat(queuePair.state()).isEqualTo(RTS);
    }
  }

  @Test
  void tellsWhenItIsDrained() throws InterruptedException {
    QueuePair queuePair = in(RTS);
    QueuePairAttributes drain = Steps.toState(SQD).drainedNotify(true);
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      expectFailure(NOT_SUPPORTED, () -> queuePair.modify(drain));
      return;
    }

    queuePair.modify(drain);

    AsyncEvent event = tck.device().awaitAsyncEvent(tck.patience().toNanos());
    assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.SQ_DRAINED, queuePair));
  }

  @Test
  void startsNothingNewWhileItIsDrained() {
    Endpoint end = tck.setup().endpointIn(RTS);
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      expectFailure(NOT_SUPPORTED, () -> end.queuePair().modify(Steps.toState(SQD)));
      return;
    }
    end.queuePair().modify(Steps.toState(SQD));
    Memory from = end.memory(8).fill(1);
    Memory remote = end.open(8);

    end.post(Requests.write(1, remote, from).signaled());
    end.sent().expectNothing();
    remote.assertUntouched();
    end.queuePair().modify(Steps.toState(RTS));

    end.sent().expectSuccess(1, CompletionOpcode.RDMA_WRITE);
    remote.assertHolds(1);
  }

  @Test
  void refusesACurrentStateThatItIsNotIn() {
    QueuePair queuePair = in(RTS);

    expectFailure(
        INVALID, () -> queuePair.modify(new QueuePairAttributes().state(RTS).currentState(RTR)));

    assertThat(queuePair.state()).isEqualTo(RTS);
  }

  @Test
  void changesAttributesWithoutChangingTheState() {
    QueuePair queuePair = in(RTS);

    queuePair.modify(new QueuePairAttributes().access(EnumSet.of(Access.REMOTE_WRITE)));

    assertThat(queuePair.state()).isEqualTo(RTS);
    assertThat(queuePair.query().access()).isEqualTo(EnumSet.of(Access.REMOTE_WRITE));
  }

  @Test
  void refusesValuesThatAreOutOfRange() {
    Gid self = tck.device().port().gids().get(0);
    SoftAssertions.assertSoftly(
        all -> {
          Row init = row(RESET, INIT);
          outOfRange(all, init, PORT, at -> at.port(0));
          outOfRange(all, init, PORT, at -> at.port(2));
          Row receive = row(INIT, RTR);
          outOfRange(all, receive, DEST_QPN, at -> at.destinationQueuePair(0x100_0000));
          outOfRange(all, receive, DEST_QPN, at -> at.destinationQueuePair(-1));
          outOfRange(all, receive, RQ_PSN, at -> at.receivePsn(0x100_0000));
          outOfRange(all, receive, MIN_RNR_TIMER, at -> at.minRnrTimer(32));
          outOfRange(all, receive, MIN_RNR_TIMER, at -> at.minRnrTimer(-1));
          outOfRange(
              all,
              receive,
              MAX_DEST_RD_ATOMIC,
              at -> at.maxDestinationReadAtomic(tck.attributes().maxReadAtomicAsResponder() + 1));
          outOfRange(
              all,
              receive,
              AV,
              at ->
                  at.addressVector(
                      new AddressVector(self, tck.device().port().gids().size(), 64, 0, 0)));
          Row send = row(RTR, RTS);
          outOfRange(all, send, RETRY_CNT, at -> at.retryCount(8));
          outOfRange(all, send, RETRY_CNT, at -> at.retryCount(-1));
          outOfRange(all, send, RNR_RETRY, at -> at.rnrRetry(8));
          outOfRange(all, send, RNR_RETRY, at -> at.rnrRetry(-1));
          outOfRange(all, send, TIMEOUT, at -> at.timeout(32));
          outOfRange(all, send, SQ_PSN, at -> at.sendPsn(0x100_0000));
          outOfRange(
              all,
              send,
              MAX_QP_RD_ATOMIC,
              at -> at.maxReadAtomic(tck.attributes().maxReadAtomicAsInitiator() + 1));
        });
  }

  @Test
  void changesNothingWhenOneOfSeveralAttributesIsRefused() {
    QueuePair queuePair = in(RTS);
    QueuePairAttributes before = queuePair.query();

    expectFailure(
        INVALID,
        () ->
            queuePair.modify(
                new QueuePairAttributes()
                    .access(Set.of())
                    .minRnrTimer(1)
                    .pathMtu(tck.device().port().activeMtu())));

    QueuePairAttributes after = queuePair.query();
    assertThat(after.access()).isEqualTo(before.access()).isNotEmpty();
    assertThat(after.minRnrTimer()).isEqualTo(before.minRnrTimer()).isNotEqualTo(1);
  }

  @Test
  void canBeUsedAgainAfterAReset() {
    QueuePair queuePair = in(ERR);

    queuePair.modify(Steps.toState(RESET));
    queuePair.modify(attributes(INIT, row(RESET, INIT).required));
    queuePair.modify(attributes(RTR, row(INIT, RTR).required));
    queuePair.modify(attributes(RTS, row(RTR, RTS).required));

    assertThat(queuePair.state()).isEqualTo(RTS);
  }

  private void outOfRange(
      SoftAssertions all, Row row, Field field, Consumer<QueuePairAttributes> value) {
    QueuePairAttributes attributes = attributes(row.to, row.required);
    value.accept(attributes);
    refuses(all, row + " with " + field + " out of range", field, row, attributes);
  }

  private void refuses(
      SoftAssertions all, String what, Field field, Row row, QueuePairAttributes attributes) {
    QueuePair queuePair = in(row.from);
    Throwable failed = catchThrowable(() -> queuePair.modify(attributes));
    all.assertThat(errorOf(failed)).as("%s answers %s", what, failed).isEqualTo(INVALID);
    if (failed != null) {
      all.assertThat(failed).as(what).hasMessageContaining(field.name());
    }
    all.assertThat(queuePair.state()).as("state after %s", what).isEqualTo(row.from);
  }

  private static @Nullable VerbsError errorOf(@Nullable Throwable failed) {
    return failed instanceof VerbsException failure ? failure.error() : null;
  }

  private QueuePair in(QueuePairState state) {
    return tck.setup().endpointIn(state).queuePair();
  }

  /** The rows that lead from and to states which this device has. */
  private List<Row> possible() {
    List<Row> rows = new ArrayList<>();
    for (Row row : TABLE) {
      if (reachable().contains(row.from) && reachable().contains(row.to)) {
        rows.add(row);
      }
    }
    return rows;
  }

  /** All states that a reliable queue pair of this device can be put into: SQE is not one. */
  private Set<QueuePairState> reachable() {
    EnumSet<QueuePairState> states = EnumSet.complementOf(EnumSet.of(SQE));
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      states.remove(SQD);
    }
    return states;
  }

  private QueuePairAttributes attributes(QueuePairState to, Set<Field> fields) {
    return attributes(to, fields, to);
  }

  private QueuePairAttributes attributes(
      QueuePairState to, Set<Field> fields, QueuePairState from) {
    QueuePairAttributes attributes = new QueuePairAttributes().state(to);
    for (Field field : fields) {
      set(attributes, field, from, to);
    }
    return attributes;
  }

  private void set(
      QueuePairAttributes attributes, Field field, QueuePairState from, QueuePairState to) {
    switch (field) {
      case STATE -> attributes.state(to);
      case CUR_STATE -> attributes.currentState(from);
      case EN_SQD_ASYNC_NOTIFY -> attributes.drainedNotify(true);
      case ACCESS_FLAGS -> attributes.access(EnumSet.of(Access.REMOTE_READ));
      case PKEY_INDEX -> attributes.pkeyIndex(0);
      case PORT -> attributes.port(1);
      case QKEY -> attributes.queueKey(1);
      case AV -> attributes.addressVector(AddressVector.to(tck.device().port().gids().get(0)));
      case PATH_MTU -> attributes.pathMtu(tck.device().port().activeMtu());
      case TIMEOUT -> attributes.timeout(Steps.TIMEOUT);
      case RETRY_CNT -> attributes.retryCount(7);
      case RNR_RETRY -> attributes.rnrRetry(7);
      case RQ_PSN -> attributes.receivePsn(PSN);
      case MAX_QP_RD_ATOMIC -> attributes.maxReadAtomic(1);
      case MIN_RNR_TIMER -> attributes.minRnrTimer(Steps.RNR_TIMER);
      case SQ_PSN -> attributes.sendPsn(PSN);
      case MAX_DEST_RD_ATOMIC -> attributes.maxDestinationReadAtomic(1);
      case DEST_QPN -> attributes.destinationQueuePair(PSN);
    }
  }

  private static Set<Field> with(Set<Field> fields, Field field) {
    EnumSet<Field> more = EnumSet.of(field);
    more.addAll(fields);
    return more;
  }

  private static Set<Field> without(Set<Field> fields, Field field) {
    EnumSet<Field> fewer = EnumSet.copyOf(fields);
    fewer.remove(field);
    return fewer;
  }

  private static Row row(QueuePairState from, QueuePairState to) {
    return TABLE.stream().filter(row -> row.from == from && row.to == to).findFirst().orElseThrow();
  }

  private static List<Row> table() {
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
