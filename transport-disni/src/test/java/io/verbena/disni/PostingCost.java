// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The cost of a request above the driver, on the fake rdma-core. Prints nanoseconds and tests that
 * no heap memory is allocated. Each way to post runs in its own JVM. Runs only when selected by
 * name, see docs/fake-rdma-core.md.
 */
@Tag(FakeRdmaCore.TAG)
@Isolated("it measures time")
@Execution(ExecutionMode.SAME_THREAD)
final class PostingCost {

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
    System.out.println("nanoseconds a request: all, the driver's, and what is above it");
  }

  @ParameterizedTest
  @EnumSource
  void allocatesNothing(PostedRequests.Way way) throws Exception {
    String[] measured =
        Natives.run(Natives.java(PostedRequests.class.getName(), way.name())).trim().split(" ", -1);

    double all = Double.parseDouble(measured[0]);
    double driver = Double.parseDouble(measured[1]);
    System.out.printf(
        Locale.ROOT, "%-20s %6.1f %6.1f %6.1f%n", way, all, driver, Math.max(0, all - driver));
    assertThat(Double.parseDouble(measured[2])).as("bytes a request").isLessThan(0.01);
  }
}
