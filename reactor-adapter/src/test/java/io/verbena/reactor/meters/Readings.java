// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.meters.Meters;
import java.time.Duration;
import org.awaitility.Awaitility;

/** Reads meters by name and tags. */
public final class Readings {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final VerbenaMeters meters = new VerbenaMeters(registry);

  /** Returns the meters for {@link io.verbena.RdmaOptions#meters}. */
  public Meters meters() {
    return meters;
  }

  /** Returns the number of meters. */
  public int size() {
    return registry.getMeters().size();
  }

  /**
   * Returns the value or the count of a meter, 0 if there is none.
   *
   * @param name without {@code verbena.}
   * @param tags keys and values
   */
  public double of(String name, String... tags) {
    double sum = 0;
    for (Meter meter : registry.find("verbena." + name).tags(tags).meters()) {
      for (Measurement measurement : meter.measure()) {
        if (measurement.getStatistic() == Statistic.COUNT
            || measurement.getStatistic() == Statistic.VALUE) {
          sum += measurement.getValue();
        }
      }
    }
    return sum;
  }

  /** Waits until the value is reached; fails after the limit. */
  public void await(double value, Duration limit, String name, String... tags) {
    Awaitility.await()
        .atMost(limit)
        .untilAsserted(() -> assertThat(of(name, tags)).as(name).isEqualTo(value));
  }
}
