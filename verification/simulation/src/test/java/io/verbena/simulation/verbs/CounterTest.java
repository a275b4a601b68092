// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.simulation.scenario.Violation;
import org.junit.jupiter.api.Test;

class CounterTest {
  @Test
  void holdsNothingThatNobodyHasAdded() {
    var counter = new Counter(0);
    counter.checkSum(0);

    assertThatThrownBy(() -> counter.checkSum(Counter.forbidden())).isInstanceOf(Violation.class);
  }
}
