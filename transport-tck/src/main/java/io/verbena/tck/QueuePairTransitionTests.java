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
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.verbena.tck.TransitionTable.Row;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Which state may follow which, and with which attributes, as {@link TransitionTable} has it. */
abstract class QueuePairTransitionTests extends VerbsTests {
  private static final int PSN = 0x12_3456;

  QueuePairTransitionTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void takesEachTransitionWithJustWhatItRequires() {
    List<Executable> claims = new ArrayList<>();
    for (Row row : possible()) {
      claims.add(() -> takes(row, row.required()));
    }
    assertAll(claims);
  }

  @Test
  void takesEachOptionalAttribute() {
    List<Executable> claims = new ArrayList<>();
    for (Row row : possible()) {
      for (Field field : row.optional()) {
        claims.add(() -> takes(row, with(row.required(), field)));
      }
    }
    assertAll(claims);
  }

  @Test
  void refusesEachTransitionThatLacksARequiredAttribute() {
    List<Executable> claims = new ArrayList<>();
    for (Row row : possible()) {
      for (Field field : row.required()) {
        claims.add(
            () -> refuses("without", field, row, attributes(row, without(row.required(), field))));
      }
    }
    assertAll(claims);
  }

  @Test
  void refusesEachAttributeThatDoesNotBelongToTheTransition() {
    List<Executable> claims = new ArrayList<>();
    for (Row row : possible()) {
      EnumSet<Field> foreign = EnumSet.complementOf(EnumSet.of(STATE));
      foreign.removeAll(row.required());
      foreign.removeAll(row.optional());
      for (Field field : foreign) {
        claims.add(() -> refuses("with", field, row, attributes(row, with(row.required(), field))));
      }
    }
    assertAll(claims);
  }

  @Test
  void refusesEachTransitionThatDoesNotExist() {
    List<Executable> claims = new ArrayList<>();
    for (QueuePairState from : reachable()) {
      for (QueuePairState to : QueuePairState.values()) {
        if (!TransitionTable.exists(from, to)) {
          Row row = new Row(from, to, Set.of(), Set.of());
          claims.add(() -> refusesAlways(row, EnumSet.of(STATE)));
          claims.add(() -> refusesAlways(row, EnumSet.allOf(Field.class)));
        }
      }
    }
    assertAll(claims);
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
    int noSuchGid = tck.device().port().gids().size();
    int tooManyServed = tck.attributes().maxReadAtomicAsResponder() + 1;
    int tooManyOut = tck.attributes().maxReadAtomicAsInitiator() + 1;
    Row init = TransitionTable.row(RESET, INIT);
    Row receive = TransitionTable.row(INIT, RTR);
    Row send = TransitionTable.row(RTR, RTS);
    assertAll(
        outOfRange(init, PORT, with -> with.port(0)),
        outOfRange(init, PORT, with -> with.port(2)),
        outOfRange(receive, DEST_QPN, with -> with.destinationQueuePair(0x100_0000)),
        outOfRange(receive, DEST_QPN, with -> with.destinationQueuePair(-1)),
        outOfRange(receive, RQ_PSN, with -> with.receivePsn(0x100_0000)),
        outOfRange(receive, MIN_RNR_TIMER, with -> with.minRnrTimer(32)),
        outOfRange(receive, MIN_RNR_TIMER, with -> with.minRnrTimer(-1)),
        outOfRange(
            receive, MAX_DEST_RD_ATOMIC, with -> with.maxDestinationReadAtomic(tooManyServed)),
        outOfRange(
            receive, AV, with -> with.addressVector(new AddressVector(self, noSuchGid, 64, 0, 0))),
        outOfRange(send, RETRY_CNT, with -> with.retryCount(8)),
        outOfRange(send, RETRY_CNT, with -> with.retryCount(-1)),
        outOfRange(send, RNR_RETRY, with -> with.rnrRetry(8)),
        outOfRange(send, RNR_RETRY, with -> with.rnrRetry(-1)),
        outOfRange(send, TIMEOUT, with -> with.timeout(32)),
        outOfRange(send, SQ_PSN, with -> with.sendPsn(0x100_0000)),
        outOfRange(send, MAX_QP_RD_ATOMIC, with -> with.maxReadAtomic(tooManyOut)));
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
    takeTo(queuePair, TransitionTable.row(RESET, INIT));
    takeTo(queuePair, TransitionTable.row(INIT, RTR));
    takeTo(queuePair, TransitionTable.row(RTR, RTS));

    assertThat(queuePair.state()).isEqualTo(RTS);
  }

  private void takeTo(QueuePair queuePair, Row row) {
    queuePair.modify(attributes(row, row.required()));
  }

  private void takes(Row row, Set<Field> fields) {
    QueuePair queuePair = in(row.from());

    assertThatCode(() -> queuePair.modify(attributes(row, fields)))
        .as("%s with %s", row, fields)
        .doesNotThrowAnyException();
    assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.to());
  }

  private void refuses(String how, Field field, Row row, QueuePairAttributes attributes) {
    QueuePair queuePair = in(row.from());
    String what = row + " " + how + " " + field;

    assertThat(expectFailure(INVALID, what, () -> queuePair.modify(attributes)))
        .as(what)
        .hasMessageContaining(field.name());
    assertThat(queuePair.state()).as("state after %s", what).isEqualTo(row.from());
  }

  /** SQD may also be refused as a state that the device does not have at all. */
  private void refusesAlways(Row row, Set<Field> fields) {
    QueuePair queuePair = in(row.from());

    Throwable failed = catchThrowable(() -> queuePair.modify(attributes(row, fields)));

    boolean missing = row.to() == SQD && !tck.supports(Capability.SEND_QUEUE_DRAIN);
    assertThat(errorOf(failed))
        .as("%s with %s answers %s", row, fields, failed)
        .isIn(missing ? List.of(INVALID, NOT_SUPPORTED) : List.of(INVALID));
    assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.from());
  }

  private Executable outOfRange(Row row, Field field, Consumer<QueuePairAttributes> value) {
    QueuePairAttributes attributes = attributes(row, row.required());
    value.accept(attributes);
    return () -> refuses("with a wrong", field, row, attributes);
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
    for (Row row : TransitionTable.ROWS) {
      if (reachable().contains(row.from()) && reachable().contains(row.to())) {
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

  private QueuePairAttributes attributes(Row row, Set<Field> fields) {
    QueuePairAttributes attributes = Steps.toState(row.to());
    for (Field field : fields) {
      set(attributes, field, row.from(), row.to());
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
}
