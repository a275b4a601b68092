// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Participant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ComparisonTest {
  private static final Workload<Participant> RATE = workload(true);
  private static final Workload<Participant> TIME = workload(false);

  @Test
  void dividesByTheFirstLimitByAeronsBetterModeAndByTheBestPeer() {
    Figures own = figures(50, 100);
    Comparison comparison =
        comparison(
            outcome(RATE, Role.LIMIT, "memcpy", figures(100, 100)),
            outcome(RATE, Role.LIMIT, "queue", figures(80, 100)),
            outcome(RATE, Role.PEER, "aeron-a", figures(20, 100)),
            outcome(RATE, Role.PEER, "aeron-b", figures(25, 100)),
            outcome(RATE, Role.PEER, "netty", figures(40, 100)),
            outcome(RATE, Role.VERBENA, "verbs", own));
    assertThat(comparison.toLimit(own).value()).isEqualTo(0.5);
    assertThat(comparison.toAeron(own).value()).isEqualTo(2);
    assertThat(comparison.toPeer(own).value()).isEqualTo(1.25);
  }

  @Test
  void takesTheShortestTimeForTheBest() {
    Figures own = figures(50, 100);
    Comparison comparison =
        comparison(
            outcome(TIME, Role.PEER, "slow", figures(100, 100)),
            outcome(TIME, Role.PEER, "fast", figures(25, 100)),
            outcome(TIME, Role.VERBENA, "verbs", own));
    assertThat(comparison.toPeer(own).value()).isEqualTo(2);
  }

  @Test
  void marksARatioOfFiguresWhoseCpusWereNotAsFarApart() {
    Figures own = figures(50, 250);
    Comparison comparison = comparison(outcome(RATE, Role.LIMIT, "memcpy", figures(100, 100)));
    assertThat(comparison.toLimit(own).unlike()).isTrue();
    assertThat(comparison.toLimit(figures(50, 150)).unlike()).isFalse();
  }

  @Test
  void hasNoRatioToWhatFailedOrDidNotTakePart() {
    Comparison comparison =
        comparison(
            new CaseResult(benchCase(RATE, Role.LIMIT, "memcpy"), null, "hung"),
            new CaseResult(benchCase(RATE, Role.PEER, "netty"), null, "hung"));
    assertThat(comparison.toLimit(figures(1, 1)).value()).isNaN();
    assertThat(comparison.toAeron(figures(1, 1)).value()).isNaN();
    assertThat(comparison.toPeer(figures(1, 1)).value()).isNaN();
  }

  private static Comparison comparison(CaseResult... outcomes) {
    return Comparison.of(List.of(outcomes)).get(0);
  }

  private static CaseResult outcome(
      Workload<Participant> workload, Role role, String name, Figures figures) {
    return new CaseResult(benchCase(workload, role, name), figures, null);
  }

  private static BenchCase<Participant> benchCase(
      Workload<Participant> workload, Role role, String name) {
    return new BenchCase<>(workload, role, name, () -> () -> {});
  }

  private static Workload<Participant> workload(boolean higherIsBetter) {
    return new Workload<>(
        "work",
        "work",
        "unit",
        1,
        higherIsBetter,
        (participant, plan) -> new Measurement(List.of(), List.of(), 0));
  }

  private static Figures figures(double value, double line) {
    return new Figures(new Measurement(List.of(value), List.of(), 0), line, line, 0);
  }
}
