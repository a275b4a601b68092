// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.QueuePairAttributes.Field.AV;
import static io.verbena.verbs.QueuePairAttributes.Field.DEST_QPN;
import static io.verbena.verbs.QueuePairAttributes.Field.MAX_DEST_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttributes.Field.MAX_QP_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttributes.Field.MIN_RNR_TIMER;
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
import static io.verbena.verbs.VerbsError.INVALID;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;
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
import io.verbena.verbs.QueuePairType;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Rules of states and attributes of reliable queue pairs beyond {@link TransitionTable}. */
abstract class QueuePairTransitionTests extends TransitionTests {
  QueuePairTransitionTests(VerbsTck provider) {
    super(provider, QueuePairType.RC);
  }

  @Test
  void refusesToDrainWhereTheDeviceCannot() {
    QueuePair queuePair = in(RTS);

    if (tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      queuePair.modify(TransitionAttributes.toState(SQD));
      assertThat(queuePair.state()).isEqualTo(SQD);
    } else {
      expectFailure(NOT_SUPPORTED, () -> queuePair.modify(TransitionAttributes.toState(SQD)));
      assertThat(queuePair.state()).isEqualTo(RTS);
    }
  }

  @Test
  void tellsWhenItIsDrained() throws InterruptedException {
    QueuePair queuePair = in(RTS);
    QueuePairAttributes drain = TransitionAttributes.toState(SQD).drainedNotify(true);
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      expectFailure(NOT_SUPPORTED, () -> queuePair.modify(drain));
      return;
    }

    queuePair.modify(drain);

    AsyncEvent event = tck.device().awaitAsyncEvent(tck.timeout().toNanos());
    assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.SQ_DRAINED, queuePair));
  }

  @Test
  void startsNothingNewWhileItIsDrained() {
    Endpoint end = tck.setup().endpointIn(RTS);
    if (!tck.supports(Capability.SEND_QUEUE_DRAIN)) {
      expectFailure(NOT_SUPPORTED, () -> end.queuePair().modify(TransitionAttributes.toState(SQD)));
      return;
    }
    end.queuePair().modify(TransitionAttributes.toState(SQD).drainedNotify(true));
    // A queue that is still draining cannot leave SQD.
    tck.expectEvent(end.device(), AsyncEvent.Type.SQ_DRAINED, end.queuePair());
    TestMemory from = end.memory(8).fill(1);
    TestMemory remote = end.open(8);

    end.post(Requests.write(1, remote, from).signaled());
    end.sent().expectNothing();
    remote.assertUntouched();
    end.queuePair().modify(TransitionAttributes.toState(RTS));

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
    int otherPort = tck.device().port().number() == 1 ? 2 : 1;
    int tooManyServed = tck.attributes().maxReadAtomicAsResponder() + 1;
    int tooManyOut = tck.attributes().maxReadAtomicAsInitiator() + 1;
    Row init = table.row(RESET, INIT);
    Row receive = table.row(INIT, RTR);
    Row send = table.row(RTR, RTS);
    assertAll(
        outOfRange(init, PORT, with -> with.port(0)),
        outOfRange(init, PORT, with -> with.port(otherPort)),
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

    queuePair.modify(TransitionAttributes.toState(RESET));
    takeTo(queuePair, table.row(RESET, INIT));
    takeTo(queuePair, table.row(INIT, RTR));
    takeTo(queuePair, table.row(RTR, RTS));

    assertThat(queuePair.state()).isEqualTo(RTS);
  }

  private void takeTo(QueuePair queuePair, Row row) {
    queuePair.modify(attributes(row, row.required()));
  }

  private Executable outOfRange(Row row, Field field, Consumer<QueuePairAttributes> value) {
    QueuePairAttributes attributes = attributes(row, row.required());
    value.accept(attributes);
    return () -> refuses("with a wrong", field, row, attributes);
  }
}
