// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import io.verbena.verbs.CompletionStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What tests of the TCK assert that is not so on Soft-iWARP (siw of Linux 6.1, with rdma-core 44),
 * beside what {@link IwarpDeviation} says of all devices of iWARP.
 */
@SuppressWarnings("ImmutableEnumChecker") // List.of and Map.of are
enum SiwDifference {
  DONE_WHEN_SENT(
      Kind.ALWAYS,
      "a SEND or WRITE is done when TCP has taken it (RFC 5040, section 5.5), also if the peer then"
          + " refuses it, has no receive for it, or goes: unsignaled, it never completes",
      "client's send completion queue",
      "Disconnecting.flushesWhatIsPendingAtBothEnds",
      "ErrorState.completesWhatWasDoneBeforeAsDone",
      "ErrorState.flushesEachRequestOnce",
      "ErrorState.flushesTheReceivesWhenASendFails",
      "ErrorState.flushesTheSendsThatArePending",
      "ErrorState.flushesUnsignaledSendsToo",
      "ErrorState.isEnteredByTheResponderThatRefusesToo",
      "ErrorState.keepsCompletionsThatWereNotPolledYet",
      "ErrorState.namesTheQueuePairOfWhatFailed",
      "RemoteProtection.rejectsEveryUnsignaledRequestWithACompletion",
      "SharedReceiveQueues.makesASenderWaitUntilAReceiveIsPosted",
      "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot"),

  DONE_OR_FLUSHED(
      Kind.NOW_AND_THEN,
      "as above, by who is first: the stream, or what the test does meanwhile",
      "client's send completion queue",
      "ErrorState.isEnteredByARequestThatFailsWhichFlushesWhatIsBehindIt",
      "Threads.completesEachRequestOnceWhenAnErrorRacesWithPosting",
      "Threads.servesTheTwoEndsOfAConnectionInTwoThreads"),

  NO_WAIT_FOR_A_RECEIVE(
      Kind.NOW_AND_THEN,
      "a SEND for which no receive is posted yet ends the connection (RFC 5041, section 7), where"
          + " InfiniBand tries again",
      "a thread failed",
      "SharedCompletionQueues.losesNothingWhenSendsAndReceivesCompleteAtOnce",
      "Threads.takesReceivesOfManyThreadsOnOneQueuePair"),

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

  ENDED_BY_EITHER_END(
      Kind.NOW_AND_THEN,
      "a request that fails at home ends the connection (RFC 5040, section 8), and with it flushes the"
          + " receives of the peer",
      "unexpected completion on the server's receive completion queue",
      "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
      "LocalProtection.rejectsASendBeforeTheRegion",
      "LocalProtection.rejectsASendBeyondTheRegion",
      "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
      "LocalProtection.rejectsASendFromARegionThatIsClosed",
      "LocalProtection.rejectsASendFromAWrongKey",
      "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
      "LocalProtection.rejectsASendWhoseLengthOverflowsTheAddress"),

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

  ONE_BUFFER_FOR_A_READ(
      Kind.ALWAYS,
      "a READ into several buffers: siw takes one (max_sge_rd), and the provider refuses more",
      "scatter/gather entries",
      "ReadAndWrite.scattersAReadOverManyBuffers"),

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

  REQUEST_WITHOUT_ANSWER(
      Kind.ALWAYS,
      "a request that does not fit the backlog: the kernel closes the connection of TCP, which its peer is"
          + " told as a rejection",
      "status=-104",
      "Connecting.leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog"),

  ESTABLISHED_AT_ONCE(
      Kind.NOW_AND_THEN,
      "an answer that races with the end of the wait for it: the passive end is established when it has"
          + " answered",
      "but was: ESTABLISHED",
      "Connecting.cannotBeAcceptedOnceTheCallerHasClosed",
      "Connecting.cannotBeAcceptedOnceTheCallerHasGivenUp",
      "Connecting.isConnectedAtBothEndsOrAtNeitherWhenTheAnswerRacesWithTheTimeout"),

  ASKED_ONCE(
      Kind.NOW_AND_THEN,
      "a request that does not fit the backlog: as in \"request without answer\", so nobody asks again",
      "no connection event within",
      "Connecting.asksAgainUntilTheRequestFitsTheBacklog"),

  ENDS_UNHEARD(
      Kind.NOW_AND_THEN,
      "a request that is posted just when the connection ends: siw does not flush it, and the provider does"
          + " so when the program asks for events of the connection manager or the state, or posts again",
      "no completion on the client's send completion queue",
      "Threads.survivesThatARegionIsClosedWhilePeersWriteToIt"),

  NO_QUEUE(
      Kind.NOW_AND_THEN,
      "many queues that are made and destroyed at once: now and then libsiw makes none, and does not say why",
      "errno 5",
      "SharedReceiveQueues.givesEachReceiveToOneMessageWhenManyQueuePairsCompete");

  /** Whether its tests always show it. */
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

  /** All of them, as a part of a page in Markdown. */
  static String page() {
    StringBuilder page =
        new StringBuilder("\n## What the TCK asserts that is not so on siw\n\n")
            .append("| what | tests |\n| --- | --- |\n");
    for (IwarpDeviation each : IwarpDeviation.values()) {
      addRow(page, each.deviation().reason(), each.tests());
    }
    for (SiwDifference each : values()) {
      addRow(page, each.reason, each.tests);
    }
    return page.toString();
  }

  private static void addRow(StringBuilder page, String reason, List<String> tests) {
    page.append("| ").append(reason).append(" | ");
    page.append(String.join(", ", tests)).append(" |\n");
  }

  /** What siw answers in this test where {@code specified} is asked for. */
  static CompletionStatus answer(String test, CompletionStatus specified) {
    return of(test)
        .map(each -> each.answers.get(specified))
        .filter(Objects::nonNull)
        .findAny()
        .orElse(specified);
  }

  /** How siw fails a whole test, or null. */
  static @Nullable Deviation deviation(String test) {
    return of(test)
        .map(each -> each.deviation)
        .filter(Objects::nonNull)
        .findAny()
        .orElseGet(() -> IwarpDeviation.of(test));
  }

  private static Stream<SiwDifference> of(String test) {
    return Arrays.stream(values()).filter(each -> each.tests.contains(test));
  }
}
