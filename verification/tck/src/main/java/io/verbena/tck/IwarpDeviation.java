// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.util.List;

/**
 * Assertions that hold on InfiniBand and RoCE, but not on iWARP: the first three fail on every
 * iWARP device, the others on some, as {@link KnownDeviations} lists for a device. If a capability
 * ({@code ADDRESS_VECTORS}, {@code REQUEST_STATUS}) shows the difference, the TCK asserts the
 * behavior of iWARP instead.
 */
@SuppressWarnings("ImmutableEnumChecker") // The lists come from List.of.
public enum IwarpDeviation {
  /** Only the connection manager connects. */
  CONNECTED_BY_THE_MANAGER(
      "a queue pair is a connection of TCP, which the connection manager makes (RFC 5044, section 7):"
          + " these tests connect by attributes",
      "iWARP is connected by its connection manager",
      "AsyncEvents.tellsOfTheQueueThatOverranAndThenOfTheQueuePairThatItStopped",
      "CompletionQueues.holdsAsManyCompletionsAsItIsDeep",
      "CompletionQueues.raisesAnEventAndStopsTheQueuePairWhenItOverruns",
      "ErrorState.isLeftThroughResetWithNothingLeftOver",
      "LostPeers.failsWhenNobodyHasTheNumber",
      "QueuePairs.answersTheAttributesThatItWasGiven",
      "QueuePairTransitions.canBeUsedAgainAfterAReset",
      "SharedCompletionQueues.losesNothingWhenAnotherQueuePairJoinsWhileOnePosts",
      "SharedCompletionQueues.servesManyQueuePairsThatPostAtOnce"),

  /** RTR and RTS are states of a connection. */
  STATES_OF_A_CONNECTION(
      "as above: RTR and RTS are not reached by attributes",
      "has no ADDRESS_VECTORS" + Deviation.OR + "iWARP is connected by its connection manager",
      "QueuePairTransitions.refusesEachAttributeThatDoesNotBelongToTheTransition",
      "QueuePairTransitions.refusesEachTransitionThatDoesNotExist",
      "QueuePairTransitions.refusesEachTransitionThatLacksARequiredAttribute",
      "QueuePairTransitions.refusesValuesThatAreOutOfRange",
      "QueuePairTransitions.takesEachOptionalAttribute",
      "QueuePairTransitions.takesEachTransitionWithJustWhatItRequires"),

  /** Frames have no queue pair numbers. */
  NO_NUMBERS(
      "a queue pair does not know the number of its peer's: no frame says it",
      "but was: -1",
      "QueuePairs.tellsWhatItHasDoneAndHolds"),

  /** A completion means that the stream has the bytes, not that the peer has them. */
  DONE_WHEN_SENT(
      "a SEND or WRITE is done when TCP has taken it (RFC 5040, section 5.5), also if the peer then"
          + " refuses it, has no receive for it, or goes: unsignaled, it never completes",
      "but was: SUCCESS" + Deviation.OR + "completion on the client's send completion queue",
      "ErrorState.flushesTheReceivesWhenASendFails",
      "ErrorState.isEnteredByTheResponderThatRefusesToo",
      "RemoteProtection.rejectsEveryUnsignaledRequestWithACompletion"),

  /** As {@link #DONE_WHEN_SENT}, if the test moves the queue pair to ERR meanwhile. */
  DONE_BEFORE_THE_ERROR(
      DONE_WHEN_SENT,
      "ErrorState.completesWhatWasDoneBeforeAsDone",
      "ErrorState.flushesEachRequestOnce",
      "ErrorState.flushesTheSendsThatArePending",
      "ErrorState.keepsCompletionsThatWereNotPolledYet",
      "ErrorState.namesTheQueuePairOfWhatFailed"),

  /**
   * As {@link #DONE_BEFORE_THE_ERROR}, for unsignaled requests, which make no completion if they
   * succeed.
   */
  FIRST_DONE_BEFORE_THE_ERROR(
      "as above, of two requests, or of the first of them",
      "no completion on the client's send completion queue" + Deviation.OR + "but was: 2L",
      "ErrorState.flushesUnsignaledSendsToo"),

  /** As {@link #DONE_WHEN_SENT}, on devices that have shared receive queues. */
  DONE_WITHOUT_A_SHARED_RECEIVE(
      DONE_WHEN_SENT,
      "SharedReceiveQueues.makesASenderWaitUntilAReceiveIsPosted",
      "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot"),

  /** The stream may take the bytes before or after the error. */
  DONE_OR_FLUSHED(
      "as above, by who is first: the stream, or what the test does meanwhile",
      "but was: SUCCESS" + Deviation.OR + "no completion on the client's send completion queue",
      "Disconnecting.flushesWhatIsPendingAtBothEnds",
      "Threads.completesEachRequestOnceWhenAnErrorRacesWithPosting"),

  /** As {@link #DONE_OR_FLUSHED}, for requests after one that fails. */
  DONE_BEHIND_A_FAILURE(
      DONE_OR_FLUSHED, "ErrorState.isEnteredByARequestThatFailsWhichFlushesWhatIsBehindIt"),

  /** There is no RNR NAK. */
  NO_WAIT_FOR_A_RECEIVE(
      "a SEND for which no receive is posted yet ends the connection (RFC 5041, section 7), where"
          + " InfiniBand tries again",
      "but was: WR_FLUSH_ERR",
      "SharedCompletionQueues.losesNothingWhenSendsAndReceivesCompleteAtOnce",
      "Threads.servesTheTwoEndsOfAConnectionInTwoThreads",
      "Threads.takesReceivesOfManyThreadsOnOneQueuePair"),

  /** As {@link #NO_WAIT_FOR_A_RECEIVE}, on devices of {@link #ENDS_UNHEARD}. */
  NO_WAIT_AND_UNHEARD(
      NO_WAIT_FOR_A_RECEIVE.reason,
      NO_WAIT_FOR_A_RECEIVE.failure
          + Deviation.OR
          + "no completion on the client's send completion queue",
      NO_WAIT_FOR_A_RECEIVE.tests.toArray(String[]::new)),

  /** An error at one end reaches the other. */
  ENDED_BY_EITHER_END(
      "a request that fails at home ends the connection (RFC 5040, section 8), and with it flushes"
          + " the receives of the peer",
      "unexpected completion on the server's receive completion queue",
      "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
      "LocalProtection.rejectsASendBeforeTheRegion",
      "LocalProtection.rejectsASendBeyondTheRegion",
      "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
      "LocalProtection.rejectsASendFromARegionThatIsClosed",
      "LocalProtection.rejectsASendFromAWrongKey",
      "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
      "LocalProtection.rejectsASendWhoseLengthOverflowsTheAddress"),

  /** A deviation of the kernel's connection manager. */
  REQUEST_WITHOUT_ANSWER(
      "a request that does not fit the backlog: the kernel closes the connection of TCP, which its"
          + " peer is told as a rejection",
      "status=-104",
      "Connecting.leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog"),

  /** Another deviation of the kernel's connection manager. */
  ASKED_ONCE(
      "a request that does not fit the backlog: as in \"request without answer\", so nobody asks"
          + " again",
      "no connection event within",
      "Connecting.asksAgainUntilTheRequestFitsTheBacklog"),

  /** Another deviation of the kernel's connection manager. */
  ESTABLISHED_AT_ONCE(
      "an answer that races with the end of the wait for it: the passive end is established when it"
          + " has answered",
      "but was: ESTABLISHED",
      "Connecting.isConnectedAtBothEndsOrAtNeitherWhenTheAnswerRacesWithTheTimeout"),

  /** A deviation of Soft-iWARP. */
  ONE_BUFFER_FOR_A_READ(
      "a READ into several buffers: siw takes one (max_sge_rd), and the provider refuses more",
      "scatter/gather entries",
      "ReadAndWrite.scattersAReadOverManyBuffers"),

  /** A deviation of Soft-iWARP. */
  ENDS_UNHEARD(
      "a request that is posted just when the connection ends: siw does not flush it, and the"
          + " provider does so when the program asks for events of the connection manager or the"
          + " state, or posts again",
      "no completion on the client's send completion queue",
      "Threads.survivesThatARegionIsClosedWhilePeersWriteToIt");

  private final String reason;
  private final String failure;
  private final List<String> tests;

  IwarpDeviation(String reason, String failure, String... tests) {
    this.reason = reason;
    this.failure = failure;
    this.tests = List.of(tests);
  }

  IwarpDeviation(IwarpDeviation same, String... tests) {
    this(same.reason, same.failure, tests);
  }

  /** Returns the tests that fail. */
  public List<String> tests() {
    return tests;
  }

  /** Returns the failure in every run, with its reason. */
  public Deviation always() {
    return new Deviation(failure, reason);
  }

  /** Returns the failure in some runs, with its reason. */
  public Deviation sometimes() {
    return Deviation.sometimes(failure, reason);
  }
}
