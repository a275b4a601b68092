// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests histories that are linearizable, and histories that are not. */
class LinearizabilityTest {
  private static Operation answered(long from, long to, Request request, long before) {
    return new Operation(request, before, from, to, true);
  }

  private static Operation unanswered(long from, Request request) {
    return new Operation(request, 0, from, from + 1, false);
  }

  private static Request get() {
    return Request.get(0);
  }

  private static Request put(long value) {
    return Request.put(0, value);
  }

  private static Request compareAndSet(long expected, long value) {
    return Request.compareAndSet(0, expected, value);
  }

  private static void assertAccepted(Operation... history) {
    assertThat(Linearizability.violations(List.of(history))).isEmpty();
  }

  private static void assertRefused(Operation... history) {
    assertThat(Linearizability.violations(List.of(history))).hasSize(1);
  }

  @Test
  void acceptsNothing() {
    assertAccepted();
  }

  @Test
  void acceptsCallsOneAfterTheOther() {
    assertAccepted(
        answered(0, 1, get(), 0),
        answered(2, 3, put(7), 0),
        answered(4, 5, get(), 7),
        answered(6, 7, compareAndSet(7, 8), 7),
        answered(8, 9, compareAndSet(7, 9), 8),
        answered(10, 11, get(), 8));
  }

  @Test
  void acceptsCallsAtOnceInTheOrderThatTheirAnswersTell() {
    assertAccepted(answered(0, 10, put(1), 2), answered(1, 9, put(2), 0), answered(2, 8, get(), 2));
  }

  @Test
  void refusesAReadOfWhatWasOverwrittenBeforeItBegan() {
    assertRefused(answered(0, 1, put(1), 0), answered(2, 3, put(2), 1), answered(4, 5, get(), 1));
  }

  @Test
  void refusesAReadThatGoesBackBehindAnEarlierOne() {
    assertRefused(
        answered(0, 1, put(1), 0),
        answered(2, 20, put(2), 1),
        answered(3, 4, get(), 2),
        answered(5, 6, get(), 1));
  }

  @Test
  void refusesAnAnsweredWriteThatIsLost() {
    assertRefused(answered(0, 1, put(1), 0), answered(2, 3, put(2), 1), answered(4, 5, put(3), 1));
  }

  @Test
  void refusesAWriteThatTakesEffectTwice() {
    assertRefused(
        answered(0, 1, put(1), 0),
        answered(2, 3, put(2), 1),
        answered(4, 5, put(3), 2),
        answered(6, 7, get(), 2));
  }

  @Test
  void refusesTwoWinnersOfOneCompareAndSet() {
    assertRefused(answered(0, 10, compareAndSet(0, 1), 0), answered(0, 10, compareAndSet(0, 2), 0));
  }

  @Test
  void refusesAValueThatNobodyWrote() {
    assertRefused(answered(0, 1, get(), 5));
  }

  @Test
  void refusesAnAnswerBeforeTheWriteBegan() {
    assertRefused(answered(0, 1, get(), 1), answered(2, 3, put(1), 0));
  }

  @Test
  void letsAnUnansweredWriteTakeEffectAtOnceLateOrNever() {
    Operation lost = unanswered(0, put(1));
    assertAccepted(lost, answered(2, 3, get(), 1));
    assertAccepted(lost, answered(2, 3, get(), 0), answered(100, 101, get(), 1));
    assertAccepted(lost, answered(2, 3, get(), 0), answered(100, 101, put(2), 0));
  }

  @Test
  void letsAnUnansweredWriteTakeEffectOnceOnlyAndNotBeforeItBegan() {
    Operation lost = unanswered(10, put(1));
    assertRefused(answered(0, 1, get(), 1), lost);
    assertRefused(
        lost, answered(20, 21, put(2), 1), answered(22, 23, put(3), 2), answered(24, 25, get(), 1));
  }

  @Test
  void letsAnUnansweredCompareAndSetWriteOnlyWhereItsValueWas() {
    assertAccepted(
        unanswered(0, put(1)), unanswered(0, compareAndSet(1, 2)), answered(5, 6, get(), 2));
    assertRefused(unanswered(0, compareAndSet(1, 2)), answered(5, 6, get(), 2));
  }

  @Test
  void takesAnUnansweredReadForNothing() {
    assertAccepted(answered(0, 1, put(1), 0), unanswered(2, get()), answered(4, 5, get(), 1));
  }

  @Test
  void looksAtEachRegisterByItself() {
    List<Operation> history =
        List.of(
            answered(0, 1, Request.put(1, 5), 0),
            answered(2, 3, Request.get(2), 0),
            answered(4, 5, Request.get(1), 0),
            answered(6, 7, Request.get(3), 4));
    assertThat(Linearizability.violations(history))
        .containsExactly(
            "after 1 of 2 answered calls the register has 5, and next is one of ["
                + history.get(2)
                + "]",
            "after 0 of 1 answered calls the register has 0, and next is one of ["
                + history.get(3)
                + "]");
  }

  @Test
  void judgesLongHistoriesOfManyCallsAtOnce() {
    List<Operation> history = history(50_000, -1);
    assertThat(Linearizability.violations(history)).isEmpty();
    assertThat(Linearizability.violations(history(50_000, 40_000))).hasSize(1);
  }

  /**
   * Returns calls that take effect in order; some of their answers are lost, and one call's effect.
   */
  private static List<Operation> history(int calls, int lost) {
    Random random = new Random(1);
    List<Operation> history = new ArrayList<>();
    long value = 0;
    for (int i = 0; i < calls; i++) {
      long expected = random.nextInt(3) == 0 ? value : value - 1;
      Request request =
          switch (random.nextInt(3)) {
            case 0 -> put(i + 1);
            case 1 -> compareAndSet(expected, i + 1);
            default -> get();
          };
      if (i == lost) {
        request = put(i + 1);
      }
      // About ten calls run at once, and occasionally one runs for long.
      long length = random.nextInt(500) == 0 ? 5_000 : 50;
      long from = 10L * i - random.nextInt((int) length);
      long to = 10L * i + random.nextInt((int) length);
      boolean isAnswered = i == lost || random.nextInt(100) != 0;
      history.add(new Operation(request, value, from, to, isAnswered));
      boolean takesEffect = i != lost && (isAnswered || random.nextBoolean());
      value = takesEffect ? request.after(value) : value;
    }
    history.sort(Comparator.comparingLong(Operation::ended));
    return history;
  }
}
