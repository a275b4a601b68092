// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The known deviations of a device, with the tests that each of them fails. */
public final class KnownDeviations {
  private final Map<Deviation, List<String>> tests = new LinkedHashMap<>();

  /** Returns the deviations of every iWARP device. */
  public static KnownDeviations iwarp() {
    return new KnownDeviations()
        .always(
            IwarpDeviation.CONNECTED_BY_THE_MANAGER,
            IwarpDeviation.STATES_OF_A_CONNECTION,
            IwarpDeviation.NO_NUMBERS);
  }

  /** Adds deviations that occur in every run. */
  public KnownDeviations always(IwarpDeviation... more) {
    for (IwarpDeviation each : more) {
      add(each.always(), each.tests());
    }
    return this;
  }

  /** Adds deviations that occur in some runs. */
  public KnownDeviations sometimes(IwarpDeviation... more) {
    for (IwarpDeviation each : more) {
      add(each.sometimes(), each.tests());
    }
    return this;
  }

  /**
   * Adds tests that a deviation fails. A deviation may be added several times, with different
   * tests.
   *
   * @throws IllegalArgumentException if a test has a deviation already
   */
  public KnownDeviations add(Deviation deviation, String... more) {
    return add(deviation, List.of(more));
  }

  private KnownDeviations add(Deviation deviation, List<String> more) {
    for (String test : more) {
      Deviation known = of(test);
      if (known != null) {
        throw new IllegalArgumentException(test + ": " + deviation + " (known: " + known + ")");
      }
    }
    tests.computeIfAbsent(deviation, none -> new ArrayList<>()).addAll(more);
    return this;
  }

  /** Returns the deviation of a test, or null. */
  public @Nullable Deviation of(String test) {
    for (Map.Entry<Deviation, List<String>> each : tests.entrySet()) {
      if (each.getValue().contains(test)) {
        return each.getKey();
      }
    }
    return null;
  }

  /**
   * Calls {@code visitor} with each deviation and its tests, in the order in which they were added.
   */
  public void forEach(BiConsumer<Deviation, List<String>> visitor) {
    tests.forEach(visitor);
  }
}
