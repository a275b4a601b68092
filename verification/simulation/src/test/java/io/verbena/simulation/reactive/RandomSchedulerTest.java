// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.core.loop.DutyCycle;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Violation;
import org.junit.jupiter.api.Test;

class RandomSchedulerTest {
  private static final class Restless implements DutyCycle {
    @Override
    public boolean doWork() {
      return true;
    }

    @Override
    public boolean isOver() {
      return false;
    }
  }

  @Test
  void endsARunWhoseAgentsHaveWorkWithoutEnd() {
    var fabric = new SimulatedFabric(1, FaultSchedule.none(1000));
    var scheduler = new RandomScheduler(new Schedule(1, fabric.time()), fabric, 1000);
    scheduler.add(new Restless(), 0);

    assertThatThrownBy(() -> scheduler.awaitFor(() -> false, 1))
        .isInstanceOf(Violation.class)
        .hasMessage("agents still have work after turns: 1000");
  }
}
