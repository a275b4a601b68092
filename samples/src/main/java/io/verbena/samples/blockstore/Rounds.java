// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import io.verbena.samples.report.ResultTable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

/** The results of a job's rounds on both twins, without the first round, which warms up. */
record Rounds<R>(Twin first, Twin second, List<R> rdma, List<R> tcp) {

  /**
   * Runs one round to warm up and then the measured ones; the twins alternate in going first.
   *
   * @param rounds the number of measured rounds
   * @param step is given to each round
   */
  static <T extends Twin, R> Rounds<R> run(
      T rdma, T tcp, int rounds, Progress.Step step, BiFunction<T, Progress.Step, R> job) {
    Rounds<R> results = new Rounds<>(rdma, tcp, new ArrayList<>(), new ArrayList<>());
    for (int round = 0; round <= rounds; round++) {
      if (round % 2 == 0) {
        results.rdma().add(job.apply(rdma, step));
        results.tcp().add(job.apply(tcp, step));
      } else {
        results.tcp().add(job.apply(tcp, step));
        results.rdma().add(job.apply(rdma, step));
      }
    }
    return results;
  }

  /** Returns the amount of {@code step} for all rounds, if one round takes {@code ofOne}. */
  static long total(int rounds, long ofOne) {
    return 2L * (rounds + 1) * ofOne;
  }

  void forEach(BiConsumer<Twin, R> action) {
    rdma.forEach(result -> action.accept(first, result));
    tcp.forEach(result -> action.accept(second, result));
  }

  /** Adds the medians of the measured rounds. */
  void addTo(ResultTable table, String what, ToDoubleFunction<R> measure) {
    table.add(what, median(rdma, measure), median(tcp, measure));
  }

  private static <R> double median(List<R> results, ToDoubleFunction<R> measure) {
    double[] sorted = results.stream().skip(1).mapToDouble(measure).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
