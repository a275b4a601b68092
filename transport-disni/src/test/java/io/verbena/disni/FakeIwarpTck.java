// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.tck.Deviation;
import io.verbena.tck.IwarpDeviation;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What every verbs provider must do, done on a device of iWARP of the fake rdma-core. */
abstract class FakeIwarpTck extends FakeDeviceTck {
  /** What is not so on these devices, beside what {@link IwarpDeviation} says of all. */
  @SuppressWarnings("ImmutableEnumChecker") // lists that List.of made
  private enum Difference {
    DONE_WHEN_SENT(
        new Deviation(
            "client's send completion queue",
            "a SEND or WRITE is done when the stream has it (RFC 5040, section 5.5), also if the"
                + " peer then refuses it or has no receive for it: unsignaled, it never completes"),
        "Disconnecting.flushesWhatIsPendingAtBothEnds",
        "ErrorState.completesWhatWasDoneBeforeAsDone",
        "ErrorState.flushesEachRequestOnce",
        "ErrorState.flushesTheReceivesWhenASendFails",
        "ErrorState.flushesTheSendsThatArePending",
        "ErrorState.flushesUnsignaledSendsToo",
        "ErrorState.isEnteredByTheResponderThatRefusesToo",
        "ErrorState.keepsCompletionsThatWereNotPolledYet",
        "ErrorState.namesTheQueuePairOfWhatFailed",
        "RemoteProtection.rejectsEveryUnsignaledRequestWithACompletion"),

    DONE_OR_FLUSHED(
        Deviation.sometimes(
            "client's send completion queue",
            "as above, by who is first: the stream, or what the test does meanwhile"),
        "Threads.completesEachRequestOnceWhenAnErrorRacesWithPosting"),

    NO_WAIT_FOR_A_RECEIVE(
        Deviation.sometimes(
            "a thread failed",
            "a SEND for which no receive is posted yet ends the connection (RFC 5041, section 7),"
                + " where InfiniBand tries again"),
        "SharedCompletionQueues.losesNothingWhenSendsAndReceivesCompleteAtOnce",
        "Threads.servesTheTwoEndsOfAConnectionInTwoThreads",
        "Threads.takesReceivesOfManyThreadsOnOneQueuePair"),

    ENDED_BY_EITHER_END(
        new Deviation(
            "unexpected completion on the server's receive completion queue",
            "a request that fails at home ends the connection (RFC 5040, section 8), and with it"
                + " flushes the receives of the peer"),
        "LocalProtection.rejectsAMessageOfWhichOneBufferIsBad",
        "LocalProtection.rejectsASendBeforeTheRegion",
        "LocalProtection.rejectsASendBeyondTheRegion",
        "LocalProtection.rejectsASendFromARegionOfAnotherDomain",
        "LocalProtection.rejectsASendFromARegionThatIsClosed",
        "LocalProtection.rejectsASendFromAWrongKey",
        "LocalProtection.rejectsASendFromMemoryThatIsNotRegistered",
        "LocalProtection.rejectsASendWhoseLengthOverflowsTheAddress",
        "Posting.refusesAMessageBeyondTheDevicesMaximum"),

    REQUEST_WITHOUT_ANSWER(
        new Deviation(
            "status=-104",
            "a request that does not fit the backlog: the kernel closes the connection of TCP, which"
                + " its peer is told as a rejection"),
        "Connecting.leavesARequestWithoutAnAnswerThatDoesNotFitTheBacklog"),

    ASKED_ONCE(
        new Deviation("no connection event within", "as above, so nobody asks again"),
        "Connecting.asksAgainUntilTheRequestFitsTheBacklog"),

    GIVEN_UP_LATER(
        Deviation.sometimes(
            "but was: ESTABLISHED",
            "an answer that races with the end of the wait for it: a connection that is given up"
                + " lives on in the kernel until its driver is done with it"),
        "Connecting.isConnectedAtBothEndsOrAtNeitherWhenTheAnswerRacesWithTheTimeout");

    private final Deviation deviation;
    private final List<String> tests;

    Difference(Deviation deviation, String... tests) {
      this.deviation = deviation;
      this.tests = List.of(tests);
    }
  }

  /**
   * @param host an address of the device, as in its profile
   */
  FakeIwarpTck(String host) {
    super(host, /* bothTypes= */ false);
  }

  /** The deviation of a test that counts on what a SEND or WRITE comes to at the peer. */
  static Deviation doneWhenSent() {
    return Difference.DONE_WHEN_SENT.deviation;
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    Deviation ofAll = IwarpDeviation.of(test);
    return Arrays.stream(Difference.values())
        .filter(each -> each.tests.contains(test))
        .map(each -> each.deviation)
        .findAny()
        .orElseGet(() -> ofAll == null ? super.deviation(test) : ofAll);
  }
}
