// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.util.stream.Stream;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes as a program, since the fake rdma-core has to be in the process from its start.
 */
final class Suites {
  private Suites() {}

  /** Runs the classes and prints how many tests succeeded. */
  public static void main(String[] classes) {
    var summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(Stream.of(classes).map(name -> selectClass(name)).toList())
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("junit.jupiter.execution.timeout.default", "120 s")
                .build(),
            summary);
    System.out.println("succeeded: " + summary.getSummary().getTestsSucceededCount());
    summary.getSummary().printFailuresTo(new PrintWriter(System.out, true, UTF_8));
    // Exits even if a test left a thread behind.
    System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
  }
}
