// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A chart: a question and the results that answer it.
 *
 * @param id the name of its file, without the ending
 * @param title the question's subject
 * @param axis the label of the axis, with the unit and the better direction
 * @param groups the workloads, each with a heading
 * @param participants the participants to show, or none to show all
 * @param percent whether to show figures as per cent of the workload's limit, and omit the limit
 */
record Chart(
    String id,
    String title,
    String axis,
    List<Group> groups,
    List<String> participants,
    boolean percent) {

  /**
   * A workload.
   *
   * @param workload its id
   * @param heading the text over its bars; empty for none
   */
  record Group(String workload, String heading) {}

  /**
   * The bars of a workload.
   *
   * @param heading the text over them; empty for none
   */
  record Bars(String heading, List<Result> results) {}

  /** Returns the bars that a file has for this chart; empty if none of them is Verbena's. */
  Optional<List<Bars>> bars(ResultsFile file) {
    List<Bars> all = new ArrayList<>();
    for (Group group : groups) {
      List<Result> results =
          file.results().stream().filter(each -> each.workload().equals(group.workload())).toList();
      List<Result> shown = percent ? percentOfLimit(results) : results;
      shown =
          shown.stream()
              .filter(each -> participants.isEmpty() || participants.contains(each.participant()))
              .toList();
      if (!shown.isEmpty()) {
        all.add(new Bars(group.heading(), shown));
      }
    }
    boolean answers =
        all.stream().flatMap(each -> each.results().stream()).anyMatch(Result::isVerbena);
    return answers ? Optional.of(all) : Optional.empty();
  }

  private static List<Result> percentOfLimit(List<Result> results) {
    return results.stream()
        .filter(Result::isLimit)
        .findFirst()
        .map(
            limit ->
                results.stream()
                    .filter(each -> !each.isLimit())
                    .map(each -> each.percentOf(limit.median()))
                    .toList())
        .orElse(List.of());
  }
}
