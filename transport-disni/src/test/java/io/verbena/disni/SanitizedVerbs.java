// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Test classes as a program, since a sanitizer has to be in the process from its start. What a
 * sanitizer finds ends it before its last line.
 */
final class SanitizedVerbs {
  private SanitizedVerbs() {}

  /** Prints whether a sanitizer is loaded, and at the end how many tests succeeded. */
  public static void main(String[] classes) throws IOException {
    var summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(Stream.of(classes).map(name -> selectClass(name)).toList())
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter(
                    "junit.jupiter.execution.parallel.config.fixed.parallelism", "8")
                .configurationParameter("junit.jupiter.execution.timeout.default", "60 s")
                .build(),
            summary);
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      System.out.println("sanitizer: " + maps.anyMatch(line -> line.contains("libasan")));
    }
    System.out.println("succeeded: " + summary.getSummary().getTestsSucceededCount());
    summary.getSummary().printFailuresTo(new PrintWriter(System.err, true, UTF_8));
    // A thread that a test left behind does not keep it.
    System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
  }
}
