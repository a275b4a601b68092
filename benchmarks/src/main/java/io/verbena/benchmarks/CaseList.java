// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Participant;
import java.util.ArrayList;
import java.util.List;

/** Cases in the order of the table. */
final class CaseList {
  private final List<BenchCase<?>> cases = new ArrayList<>();

  <P extends Participant> void add(
      Workload<P> work, Role role, String participant, BenchCase.Opening<P> opening) {
    cases.add(new BenchCase<>(work, role, participant, opening));
  }

  List<BenchCase<?>> all() {
    return List.copyOf(cases);
  }
}
