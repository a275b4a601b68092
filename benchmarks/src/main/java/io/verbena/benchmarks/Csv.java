// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Formats results as comma-separated values, one line per case, beneath a comment. */
final class Csv {
  private static final String HEADER =
      "workload,participant,role,unit,median,min,max,p99,bytes_per_op,"
          + "per_limit,per_aeron,per_peer,line_before_ns,line_after_ns,other_cpus,disturbed,failure";

  private Csv() {}

  /**
   * Formats results.
   *
   * @param comment where and when they were measured
   */
  static String of(String comment, List<CaseResult> results) {
    return Stream.concat(
            Stream.of("# " + comment, HEADER),
            Comparison.of(results).stream()
                .flatMap(each -> each.results().stream().map(result -> row(result, each))))
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static String row(CaseResult result, Comparison comparison) {
    BenchCase<?> benchCase = result.benchCase();
    Workload<?> workload = comparison.workload();
    String head =
        String.join(
            ",", workload.id(), benchCase.participant(), benchCase.role().name(), workload.unit());
    Figures figures = result.figures();
    if (figures == null) {
      return head + ",,,,,,,,,,,,," + quoted(String.valueOf(result.failure()));
    }
    double scale = workload.scale();
    return Stream.of(
            figures.median() * scale,
            figures.least() * scale,
            figures.most() * scale,
            figures.p99() * scale,
            figures.measurement().bytesPerOperation(),
            comparison.toLimit(figures).value(),
            comparison.toAeron(figures).value(),
            comparison.toPeer(figures).value(),
            figures.lineBefore(),
            figures.lineAfter(),
            figures.otherCpus())
        .map(value -> Double.isNaN(value) ? "" : Double.toString(value))
        .collect(Collectors.joining(",", head + ",", "," + figures.disturbed() + ","));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\"", "\"\"") + '"';
  }
}
