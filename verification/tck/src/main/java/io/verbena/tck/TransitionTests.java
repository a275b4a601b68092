// SPDX-License-Identifier: Apache-2.0
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
import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.opentest4j.TestAbortedException;

/**
 * Checks the transitions of a queue pair type and their attributes against {@link TransitionTable}.
 */
abstract class TransitionTests extends VerbsTests {
  /**
   * An empty send queue must drain within this fraction of the timeout. A change that a device
   * refuses by a known deviation, although the queue has drained, is repeated for as long.
   */
  private static final int DRAINING = 4;

  private static final int PSN = 0x12_3456;

  private final QueuePairType type;
  final TransitionTable table;

  /**
   * Queue pairs that have refused all changes so far, and are reused because a refusal changes
   * nothing. A new one for each check would mean hundreds, which a busy kernel takes minutes to
   * destroy.
   */
  private final Map<QueuePairState, QueuePair> unchanged = new EnumMap<>(QueuePairState.class);

  /** The states that the device lacks; each attempt to reach one would leave a queue pair. */
  private final Map<QueuePairState, TestAbortedException> missing =
      new EnumMap<>(QueuePairState.class);

  @RegisterExtension final RequiresSupport queuePairType;

  TransitionTests(VerbsTck provider, QueuePairType type) {
    super(provider);
    this.type = type;
    table = TransitionTable.of(type);
    queuePairType = RequiresSupport.of(this, type);
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
      for (Field field : foreignTo(row)) {
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
        if (!table.exists(from, to)) {
          Row row = new Row(from, to, Set.of(), Set.of());
          claims.add(() -> refusesAlways(row, EnumSet.of(STATE)));
          claims.add(() -> refusesAlways(row, EnumSet.allOf(Field.class)));
        }
      }
    }
    assertAll(claims);
  }

  @Test
  void leavesSendErrorAsTheTableSays() {
    if (neverComesToSendError()) {
      return;
    }
    Row recovery = table.row(SQE, RTS);
    in(SQE);
    List<Executable> claims = new ArrayList<>();
    for (Row row : table.rows()) {
      if (row.from() == SQE) {
        claims.add(() -> takes(row, row.required()));
      }
    }
    for (Field field : recovery.optional()) {
      claims.add(() -> takes(recovery, with(recovery.required(), field)));
    }
    for (Field field : foreignTo(recovery)) {
      claims.add(() -> refuses("with", field, recovery, attributes(recovery, EnumSet.of(field))));
    }
    for (QueuePairState to : QueuePairState.values()) {
      if (!table.exists(SQE, to)) {
        claims.add(() -> refusesAlways(new Row(SQE, to, Set.of(), Set.of()), EnumSet.of(STATE)));
      }
    }
    assertAll(claims);
  }

  /** Asserts that a reliable queue pair, which has no SQE state, goes to ERR when a send fails. */
  private boolean neverComesToSendError() {
    if (type == QueuePairType.RC) {
      Endpoint end = tck.setup().endpointIn(RTS);
      end.failOneOfItsSends();
      end.awaitState(ERR);
      return true;
    }
    return false;
  }

  final void takes(Row row, Set<Field> fields) {
    QueuePair queuePair = in(row.from());

    assertThatCode(() -> modify(queuePair, row, attributes(row, fields)))
        .as("%s with %s", row, fields)
        .doesNotThrowAnyException();
    assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.to());
  }

  /**
   * Modifies a queue pair, repeatedly if it leaves SQD: even an empty send queue takes time to
   * drain, and cannot leave SQD before.
   */
  private void modify(QueuePair queuePair, Row row, QueuePairAttributes attributes) {
    Deadline drained = Deadline.in(tck.timeout().dividedBy(DRAINING));
    while (true) {
      try {
        queuePair.modify(attributes);
        return;
      } catch (VerbsException e) {
        if (row.from() != SQD || drained.isOver()) {
          throw e;
        }
        drained.pause();
      }
    }
  }

  final void refuses(String how, Field field, Row row, QueuePairAttributes attributes) {
    QueuePair queuePair = takeUnchanged(row.from());
    String what = row + " " + how + " " + field;

    try {
      assertThat(expectFailure(INVALID, what, () -> queuePair.modify(attributes)))
          .as(what)
          .hasMessageContaining(field.name());
      assertThat(queuePair.state()).as("state after %s", what).isEqualTo(row.from());
    } finally {
      keepIfUnchanged(row.from(), queuePair);
    }
  }

  /** Returns a queue pair in a state: one that refused all changes so far, or a new one. */
  private QueuePair takeUnchanged(QueuePairState state) {
    QueuePair kept = unchanged.remove(state);
    return kept == null ? in(state) : kept;
  }

  private void keepIfUnchanged(QueuePairState state, QueuePair queuePair) {
    if (queuePair.state() == state) {
      unchanged.put(state, queuePair);
    }
  }

  /**
   * Asserts that a change is refused; a device without SQD may refuse its transitions with
   * NOT_SUPPORTED.
   */
  private void refusesAlways(Row row, Set<Field> fields) {
    QueuePair queuePair = takeUnchanged(row.from());

    Throwable failed = catchThrowable(() -> queuePair.modify(attributes(row, fields)));
    keepIfUnchanged(row.from(), queuePair);

    boolean missing = row.to() == SQD && !tck.supports(Capability.SEND_QUEUE_DRAIN);
    assertThat(errorOf(failed))
        .as("error of %s with %s: %s", row, fields, failed)
        .isIn(missing ? List.of(INVALID, NOT_SUPPORTED) : List.of(INVALID));
    assertThat(queuePair.state()).as("state after %s", row).isEqualTo(row.from());
  }

  private static @Nullable VerbsError errorOf(@Nullable Throwable failed) {
    return failed instanceof VerbsException failure ? failure.error() : null;
  }

  /** Returns a new queue pair in a state; aborts the test if the device has no such state. */
  final QueuePair in(QueuePairState state) {
    TestAbortedException known = missing.get(state);
    if (known != null) {
      throw known;
    }
    try {
      return tck.setup().type(type).endpointIn(state).queuePair();
    } catch (TestAbortedException e) {
      missing.put(state, e);
      throw e;
    }
  }

  /** Returns the rows between states that the device supports. */
  private List<Row> possible() {
    List<Row> rows = new ArrayList<>();
    for (Row row : table.rows()) {
      if (reachable().contains(row.from()) && reachable().contains(row.to())) {
        rows.add(row);
      }
    }
    return rows;
  }

  /**
   * Returns the states that a queue pair of the device can be moved to. It enters SQE only by an
   * error.
   */
  private Set<QueuePairState> reachable() {
    EnumSet<QueuePairState> states = EnumSet.complementOf(EnumSet.of(SQE));
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      states.remove(SQD);
    }
    return states;
  }

  final QueuePairAttributes attributes(Row row, Set<Field> fields) {
    QueuePairAttributes attributes = TransitionAttributes.toState(row.to());
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
      case PORT -> attributes.port(tck.device().port().number());
      case QKEY -> attributes.queueKey(1);
      case AV -> attributes.addressVector(TransitionAttributes.wayTo(tck.device()));
      case PATH_MTU -> attributes.pathMtu(tck.device().port().activeMtu());
      case TIMEOUT -> attributes.timeout(TransitionAttributes.TIMEOUT);
      case RETRY_CNT -> attributes.retryCount(7);
      case RNR_RETRY -> attributes.rnrRetry(7);
      case RQ_PSN -> attributes.receivePsn(PSN);
      case MAX_QP_RD_ATOMIC -> attributes.maxReadAtomic(1);
      case MIN_RNR_TIMER -> attributes.minRnrTimer(TransitionAttributes.RNR_TIMER);
      case SQ_PSN -> attributes.sendPsn(PSN);
      case MAX_DEST_RD_ATOMIC -> attributes.maxDestinationReadAtomic(1);
      case DEST_QPN -> attributes.destinationQueuePair(PSN);
    }
  }

  private static Set<Field> foreignTo(Row row) {
    EnumSet<Field> foreign = EnumSet.complementOf(EnumSet.of(STATE));
    foreign.removeAll(row.required());
    foreign.removeAll(row.optional());
    return foreign;
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
