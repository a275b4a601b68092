// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The results of one workload, and the references that they are compared with. */
final class Comparison {
  private static final double UNLIKE = 2;

  private final Workload<?> workload;
  private final List<CaseResult> results;

  private Comparison(Workload<?> workload, List<CaseResult> results) {
    this.workload = workload;
    this.results = results;
  }

  /** Returns one comparison per workload, in the order of the results. */
  static List<Comparison> of(List<CaseResult> results) {
    Map<Workload<?>, List<CaseResult>> byWorkload = new LinkedHashMap<>();
    for (CaseResult result : results) {
      byWorkload
          .computeIfAbsent(result.benchCase().workload(), workload -> new ArrayList<>())
          .add(result);
    }
    List<Comparison> comparisons = new ArrayList<>();
    byWorkload.forEach((workload, of) -> comparisons.add(new Comparison(workload, of)));
    return comparisons;
  }

  Workload<?> workload() {
    return workload;
  }

  List<CaseResult> results() {
    return results;
  }

  /** Returns the ratio to the workload's reference, its first limit. */
  Ratio toLimit(Figures figures) {
    return results.stream()
        .filter(each -> each.benchCase().role() == Role.LIMIT)
        .findFirst()
        .map(limit -> ratio(figures, limit.figures()))
        .orElse(Ratio.NONE);
  }

  /** Returns the ratio to Aeron in its better mode. */
  Ratio toAeron(Figures figures) {
    return toBest(figures, each -> each.benchCase().participant().startsWith("aeron"));
  }

  /** Returns the ratio to the best peer. */
  Ratio toPeer(Figures figures) {
    return toBest(figures, each -> each.benchCase().role() == Role.PEER);
  }

  private Ratio toBest(Figures figures, Predicate<CaseResult> among) {
    Comparator<Figures> byMedian = Comparator.comparingDouble(Figures::median);
    return results.stream()
        .filter(among)
        .flatMap(each -> Stream.ofNullable(each.figures()))
        .max(workload.higherIsBetter() ? byMedian : byMedian.reversed())
        .map(best -> ratio(figures, best))
        .orElse(Ratio.NONE);
  }

  private static Ratio ratio(Figures figures, @Nullable Figures reference) {
    if (reference == null) {
      return Ratio.NONE;
    }
    double lines = figures.line() / reference.line();
    return new Ratio(figures.median() / reference.median(), Math.max(lines, 1 / lines) > UNLIKE);
  }

  /**
   * A figure divided by another.
   *
   * @param value the quotient, or NaN if there is no reference
   * @param unlike whether the cache-line round trips of the two differed too much to compare them
   */
  record Ratio(double value, boolean unlike) {
    static final Ratio NONE = new Ratio(Double.NaN, false);
  }
}
