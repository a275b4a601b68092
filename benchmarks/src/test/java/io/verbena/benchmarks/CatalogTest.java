// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class CatalogTest {
  @Test
  void namesEachCaseOnce() {
    assertThat(Catalog.cases()).extracting(BenchCase::id).doesNotHaveDuplicates();
  }

  @Test
  void hasVerbenaInEveryWorkload() {
    assertThat(workloads(EnumSet.of(Role.VERBENA))).isEqualTo(workloads(EnumSet.allOf(Role.class)));
  }

  private static Set<String> workloads(Set<Role> roles) {
    return Catalog.cases().stream()
        .filter(each -> roles.contains(each.role()))
        .map(each -> each.workload().id())
        .collect(Collectors.toSet());
  }
}
