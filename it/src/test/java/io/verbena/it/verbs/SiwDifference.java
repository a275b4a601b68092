// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import io.verbena.tck.KnownDeviations;
import io.verbena.verbs.CompletionStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The assertions of the TCK that do not hold on Soft-iWARP (siw of Linux 6.1, with rdma-core 44),
 * in addition to those in {@link IwarpDeviation}.
 */
@SuppressWarnings("ImmutableEnumChecker") // List.of and Map.of are immutable
enum SiwDifference {
  CLOSED_LISTENER(
      Kind.NOW_AND_THEN,
      "a request to a listener that closes before anybody took it: TCP may have it, and nobody answers",
      "status=-110",
      "Connecting.isRejectedWhenTheListenerClosesBeforeAnybodyTookTheRequest"),

  NO_STATUS_OF_A_REJECTION(
      Kind.ALWAYS,
      "a reply that rejects has no status of the connection manager: siw tells ECONNRESET",
      "but was: -104",
      "Connecting.rejectsWithDataAndStatus"),

  SEND_PROTECTION(
      "a send from memory that it may not read, or longer than a message may be: siw fails the request as"
          + " a broken one (siw_qp_tx.c). Specified: LOC_PROT_ERR, LOC_LEN_ERR",
      Map.of(
          CompletionStatus.LOC_PROT_ERR, CompletionStatus.LOC_QP_OP_ERR,
          CompletionStatus.LOC_LEN_ERR, CompletionStatus.LOC_QP_OP_ERR),
      "AsyncEvents.saysNothingOfAnErrorThatACompletionTells",
      "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
      "LocalProtection.rejectsASendBeforeTheRegion",
      "LocalProtection.rejectsASendBeyondTheRegion",
      "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
      "LocalProtection.rejectsASendFromARegionThatIsClosed",
      "LocalProtection.rejectsASendFromAWrongKey",
      "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
      "LocalProtection.rejectsASendWhoseLengthOverflowsTheAddress",
      "LocalProtection.rejectsAWriteFromAWrongKey"),

  RECEIVE_PROTECTION(
      "a receive into memory that it may not write: siw says no more than that something failed"
          + " (siw_qp_rx.c). Specified: LOC_PROT_ERR",
      Map.of(CompletionStatus.LOC_PROT_ERR, CompletionStatus.GENERAL_ERR),
      "LocalProtection.rejectsAReceiveBeyondTheRegion",
      "LocalProtection.rejectsAReceiveIntoARegionOfAnotherDomain",
      "LocalProtection.rejectsAReceiveIntoARegionThatWasClosedAfterPosting",
      "LocalProtection.rejectsAReceiveIntoARegionWithoutLocalWrite",
      "LocalProtection.rejectsAReceiveWithAWrongKey"),

  MESSAGE_TOO_LONG(
      Kind.ALWAYS,
      "a message beyond max_msg_sz: as above",
      "LOC_QP_OP_ERR",
      "Posting.refusesAMessageBeyondTheDevicesMaximum"),

  RIGHTS_OF_QUEUE_PAIRS(
      Kind.ALWAYS,
      "what the access flags of a queue pair do not allow: siw looks at those of regions alone. Specified:"
          + " refused (IBTA vol. 1, queue pair access rights)",
      "[state after what the peer refused]",
      "AsyncEvents.tellsTheResponderOfARequestThatItsQueuePairDoesNotAllow",
      "RemoteProtection.rejectsReadsIfThePeerServesNone",
      "RemoteProtection.rejectsReadsOnAQueuePairThatDoesNotAllowThem",
      "RemoteProtection.rejectsWritesAfterTheRightWasTakenFromTheQueuePair",
      "RemoteProtection.rejectsWritesOnAQueuePairThatDoesNotAllowThem"),

  READ_WITHOUT_THE_RIGHT(
      Kind.ALWAYS,
      "a READ of a region without remote read: siw serves it, so that whoever has the key of a region that"
          + " peers may write may read it too. Specified: refused (RFC 5040, section 5.2)",
      "[state after what the peer refused]",
      "RemoteProtection.rejectsAReadOfARegionThatMayOnlyBeWritten"),

  NO_SOLICITED_EVENTS(
      Kind.ALWAYS,
      "a completion queue that is armed for solicited completions: siw tells neither those nor errors, and"
          + " forgets that it was armed for any. Specified: ibv_req_notify_cq(3)",
      "no completion event within",
      "CompletionChannels.passesOverUnsolicitedReceivesWhenArmedForSolicitedOnes",
      "CompletionChannels.stillTellsAnyCompletionWhenArmedForSolicitedOnesAfterwards",
      "CompletionChannels.tellsAnErrorWhenArmedForSolicitedOnes"),

  UNSOLICITED_EVENT(
      Kind.ALWAYS,
      "as above: the sender's own completion is told",
      "unexpected completion event",
      "CompletionChannels.passesOverTheSendersOwnCompletionWhenArmedForSolicitedOnes"),

  NO_LIMIT_TO_ASK_FOR(
      Kind.ALWAYS,
      "the limit of a shared receive queue: libsiw has no ibv_query_srq(3)",
      "query shared receive queue",
      "SharedReceiveQueues.raisesOneEventWhenOfTenPostedWithLimitSevenFourAreTaken",
      "SharedReceiveQueues.refusesALimitThatItCannotHold"),

  EVENTS_UNTOLD(
      Kind.ALWAYS,
      "QP_LAST_WQE_REACHED, and QP_ACCESS_ERR for a request that memory does not allow: siw raises none",
      "but was: null",
      "AsyncEvents.tellsTheResponderOfARequestThatItsMemoryDoesNotAllow",
      "SharedReceiveQueues.tellsThatAQueuePairInErrorTakesNoMoreReceives"),

  EVENT_TOO_MANY(
      Kind.ALWAYS,
      "an error that a completion tells: siw raises QP_FATAL too",
      "AsyncEvent[type=QP_FATAL",
      "AsyncEvents.saysNothingOfAnErrorThatACompletionTells",
      "AsyncEvents.tellsTheResponderNothingWhenItsReceiveCompletesWithTheError"),

  NO_QUEUE(
      Kind.NOW_AND_THEN,
      "a queue that would be mapped from the offset 0x90000 of the device's file, as the 49th completion queue of"
          + " 256: libsiw takes this offset for none (SIW_INVAL_UOBJ_KEY in siw-abi.h), and makes no queue",
      "errno 5",
      "Connecting.connectsManyAtOnce",
      "SharedReceiveQueues.givesEachReceiveToOneMessageWhenManyQueuePairsCompete");

  /** The deviations that siw shares with other iWARP devices. */
  private static final KnownDeviations SHARED =
      KnownDeviations.iwarp()
          .always(
              IwarpDeviation.DONE_WHEN_SENT,
              IwarpDeviation.DONE_BEFORE_THE_ERROR,
              IwarpDeviation.FIRST_DONE_BEFORE_THE_ERROR,
              IwarpDeviation.DONE_WITHOUT_A_SHARED_RECEIVE)
          .sometimes(
              IwarpDeviation.DONE_OR_FLUSHED,
              IwarpDeviation.DONE_BEHIND_A_FAILURE,
              IwarpDeviation.NO_WAIT_AND_UNHEARD,
              IwarpDeviation.ENDED_BY_EITHER_END)
          .always(IwarpDeviation.ONE_BUFFER_FOR_A_READ, IwarpDeviation.REQUEST_WITHOUT_ANSWER)
          .sometimes(
              IwarpDeviation.ASKED_ONCE,
              IwarpDeviation.ESTABLISHED_AT_ONCE,
              IwarpDeviation.ENDS_UNHEARD)
          .add(
              IwarpDeviation.ESTABLISHED_AT_ONCE.sometimes(),
              "Connecting.cannotBeAcceptedOnceTheCallerHasClosed",
              "Connecting.cannotBeAcceptedOnceTheCallerHasGivenUp");

  /** Whether the tests of a difference always show it. */
  private enum Kind {
    ALWAYS,
    NOW_AND_THEN
  }

  private final String reason;
  private final Map<CompletionStatus, CompletionStatus> answers;
  private final @Nullable Deviation deviation;
  private final List<String> tests;

  SiwDifference(Kind kind, String reason, String failure, String... tests) {
    this.reason = reason;
    this.answers = Map.of();
    this.tests = List.of(tests);
    deviation = new Deviation(failure, reason, kind != Kind.NOW_AND_THEN);
  }

  SiwDifference(String reason, Map<CompletionStatus, CompletionStatus> answers, String... tests) {
    this.reason = reason;
    this.answers = answers;
    this.tests = List.of(tests);
    deviation = null;
  }

  /** Returns all differences as a part of a Markdown page. */
  static String page() {
    StringBuilder page =
        new StringBuilder("\n## What the TCK asserts that is not so on siw\n\n")
            .append("| what | tests |\n| --- | --- |\n");
    SHARED.forEach((deviation, tests) -> addRow(page, deviation.reason(), tests));
    for (SiwDifference each : values()) {
      addRow(page, each.reason, each.tests);
    }
    return page.toString();
  }

  private static void addRow(StringBuilder page, String reason, List<String> tests) {
    page.append("| ").append(reason).append(" | ");
    page.append(String.join(", ", tests)).append(" |\n");
  }

  /** Returns siw's answer in this test where the specification requires {@code specified}. */
  static CompletionStatus answer(String test, CompletionStatus specified) {
    return of(test)
        .map(each -> each.answers.get(specified))
        .filter(Objects::nonNull)
        .findAny()
        .orElse(specified);
  }

  /** Returns how siw fails a whole test, or null. */
  static @Nullable Deviation deviation(String test) {
    return of(test)
        .map(each -> each.deviation)
        .filter(Objects::nonNull)
        .findAny()
        .orElseGet(() -> SHARED.of(test));
  }

  private static Stream<SiwDifference> of(String test) {
    return Arrays.stream(values()).filter(each -> each.tests.contains(test));
  }
}
