// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What tests of the TCK assert that is not so on {@code iwarp://}, beside what {@link
 * IwarpDeviation} says of all devices of iWARP.
 */
@SuppressWarnings("ImmutableEnumChecker") // lists that List.of made
enum IwarpDifference {
  CONNECTED_BY_THE_MANAGER(
      IwarpDeviation.CONNECTED_BY_THE_MANAGER.deviation(),
      "CompletionQueues.growsAndKeepsWhatItHolds"),

  DEPTHS_ARE_AGREED_ON(
      "the ends agree on how many READs may be outstanding (RFC 6581, section 9), so that one is"
          + " refused at home",
      /* always= */ true,
      "LOC_QP_OP_ERR",
      "RemoteProtection.rejectsReadsIfThePeerServesNone"),

  DONE_WHEN_SENT(
      "a SEND or WRITE is done when TCP has taken it (RFC 5040, section 5.5), also if the peer then"
          + " refuses it, has no receive for it, or goes: unsignaled, it never completes",
      /* always= */ true,
      "client's send completion queue",
      "Disconnecting.flushesWhatIsPendingAtBothEnds",
      "ErrorState.isEnteredByTheResponderThatRefusesToo",
      "ErrorState.flushesTheReceivesWhenASendFails",
      "Invalidation.isDoneInTheOrderOfTheSendQueue",
      "Invalidation.killsAWindowWithAMessageBeforeItIsReceived",
      "Invalidation.killsTheKeyOfARegion",
      "Invalidation.killsTheKeyOfAWindow",
      "Invalidation.letsTheWindowBeBoundAgain",
      "RemoteProtection.rejectsEveryUnsignaledRequestWithACompletion",
      "SharedReceiveQueues.refusesAMessageThatIsLargerThanTheReceiveThatItGot"),

  DONE_OR_FLUSHED(
      "as above, by who is first: the stream, or what the test does meanwhile",
      /* always= */ false,
      "client's send completion queue",
      "ErrorState.completesWhatWasDoneBeforeAsDone",
      "ErrorState.flushesEachRequestOnce",
      "ErrorState.flushesTheSendsThatArePending",
      "ErrorState.flushesUnsignaledSendsToo",
      "ErrorState.isEnteredByARequestThatFailsWhichFlushesWhatIsBehindIt",
      "ErrorState.keepsCompletionsThatWereNotPolledYet",
      "ErrorState.namesTheQueuePairOfWhatFailed",
      "SendAndReceive.completesInTheOrderOfPosting",
      "SharedReceiveQueues.makesASenderWaitUntilAReceiveIsPosted",
      "Threads.completesEachRequestOnceWhenAnErrorRacesWithPosting"),

  NO_WAIT_FOR_A_RECEIVE(
      "a SEND for which no receive is posted yet ends the connection (RFC 5041, section 7), where"
          + " InfiniBand tries again; any thread of either end may see that first",
      /* always= */ false,
      "WR_FLUSH_ERR",
      "SharedCompletionQueues.losesNothingWhenSendsAndReceivesCompleteAtOnce",
      "Threads.servesTheTwoEndsOfAConnectionInTwoThreads",
      "Threads.takesReceivesOfManyThreadsOnOneQueuePair"),

  LOST_WITH_THE_CONNECTION(
      "what TCP has taken and the peer has not read when it disconnects is lost",
      /* always= */ false,
      "messages received",
      "Threads.completesEachRequestOnceWhenTheConnectionEndsMeanwhile"),

  ENDED_BY_EITHER_END(
      "a request that fails at home ends the connection (RFC 5040, section 8), and with it flushes"
          + " the receives of the peer",
      /* always= */ true,
      "unexpected completion on the server's receive completion queue",
      "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
      "LocalProtection.rejectsASendBeforeTheRegion",
      "LocalProtection.rejectsASendBeyondTheRegion",
      "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
      "LocalProtection.rejectsASendFromARegionThatIsClosed",
      "LocalProtection.rejectsASendFromAWrongKey",
      "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
      "LocalProtection.rejectsASendWhoseLengthOverflowsTheAddress"),

  ENDED_A_LITTLE_LATER(
      "as above",
      /* always= */ false,
      "unexpected completion on the server's receive completion queue",
      "Posting.refusesAMessageBeyondTheDevicesMaximum");

  private final Deviation deviation;
  private final List<String> tests;

  IwarpDifference(String reason, boolean always, String failure, String... tests) {
    this(new Deviation(failure, reason, always), tests);
  }

  IwarpDifference(Deviation deviation, String... tests) {
    this.deviation = deviation;
    this.tests = List.of(tests);
  }

  /** How a test fails, or null. */
  static @Nullable Deviation deviation(String test) {
    return Arrays.stream(values())
        .filter(each -> each.tests.contains(test))
        .map(each -> each.deviation)
        .findAny()
        .orElseGet(() -> IwarpDeviation.of(test));
  }
}
