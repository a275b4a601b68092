// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {
  private final VirtualTime time = new VirtualTime();
  private final List<String> ran = new ArrayList<>();

  private void runAll() {
    while (time.runDue() || time.advance(Long.MAX_VALUE)) {}
  }

  @Test
  void runsAlarmsInTheOrderOfTheirDeadlines() {
    SplittableRandom random = new SplittableRandom(3);
    List<Long> moments = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      time.schedule(random.nextLong(1000), () -> moments.add(time.now()));
    }

    runAll();

    assertThat(moments).hasSize(500).isSorted();
  }

  @Test
  void runsAlarmsOfOneMomentInTheOrderInWhichTheyWereSet() {
    for (int i = 0; i < 100; i++) {
      String name = "alarm " + i;
      time.schedule(7, () -> ran.add(name));
    }

    runAll();

    assertThat(ran).hasSize(100).isEqualTo(List.copyOf(ran).stream().sorted(byNumber()).toList());
  }

  private static Comparator<String> byNumber() {
    return Comparator.comparingInt(name -> Integer.parseInt(name.substring(6)));
  }

  @Test
  void forgetsAnAlarmThatIsCancelled() {
    Timeline.Alarm alarm = time.alarm(() -> ran.add("cancelled"));
    alarm.set(5);
    time.schedule(6, () -> ran.add("other"));
    alarm.cancel();
    alarm.cancel();

    runAll();

    assertThat(ran).containsExactly("other");
    assertThat(time.pending()).isZero();
  }

  @Test
  void replacesADeadlineThatIsSetAgain() {
    Timeline.Alarm alarm = time.alarm(() -> ran.add("at " + time.now()));
    alarm.set(50);
    alarm.set(5);
    alarm.set(20);

    runAll();

    assertThat(ran).containsExactly("at 20");
  }

  @Test
  void doesNotGoBeyondItsLimit() {
    time.schedule(100, () -> ran.add("late"));

    assertThat(time.advance(99)).isFalse();
    assertThat(time.now()).isZero();
    assertThat(time.pending()).isEqualTo(1);
  }
}
