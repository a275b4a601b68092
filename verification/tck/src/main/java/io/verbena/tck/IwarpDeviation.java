// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What tests assert that is true of InfiniBand and RoCE, and of no device of iWARP. Where the TCK
 * knows the difference by a capability ({@code ADDRESS_VECTORS}, {@code REQUEST_STATUS}), it
 * asserts what is true of iWARP in its place.
 */
@SuppressWarnings("ImmutableEnumChecker") // lists that List.of made
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
      "QueuePairTransitions.takesEachOptionalAttribute",
      "SharedCompletionQueues.losesNothingWhenAnotherQueuePairJoinsWhileOnePosts",
      "SharedCompletionQueues.servesManyQueuePairsThatPostAtOnce"),

  /** RTR and RTS are states of a connection. */
  STATES_OF_A_CONNECTION(
      "as above: RTR and RTS are not reached by attributes",
      "has no ADDRESS_VECTORS",
      "QueuePairTransitions.refusesEachAttributeThatDoesNotBelongToTheTransition",
      "QueuePairTransitions.refusesEachTransitionThatDoesNotExist",
      "QueuePairTransitions.refusesEachTransitionThatLacksARequiredAttribute",
      "QueuePairTransitions.refusesValuesThatAreOutOfRange",
      "QueuePairTransitions.takesEachTransitionWithJustWhatItRequires"),

  /** Frames have no queue pair numbers. */
  NO_NUMBERS(
      "a queue pair does not know the number of its peer's: no frame says it",
      "but was: -1",
      "QueuePairs.tellsWhatItHasDoneAndHolds");

  private final Deviation deviation;
  private final List<String> tests;

  IwarpDeviation(String reason, String failure, String... tests) {
    deviation = new Deviation(failure, reason);
    this.tests = List.of(tests);
  }

  /** Returns the tests that fail. */
  public List<String> tests() {
    return tests;
  }

  /** Returns how they fail, and why. */
  public Deviation deviation() {
    return deviation;
  }

  /** Returns how a test fails on every device of iWARP, or null. */
  public static @Nullable Deviation of(String test) {
    return Arrays.stream(values())
        .filter(each -> each.tests.contains(test))
        .map(IwarpDeviation::deviation)
        .findAny()
        .orElse(null);
  }
}
