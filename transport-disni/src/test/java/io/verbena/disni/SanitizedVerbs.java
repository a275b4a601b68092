// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs test classes as a program, because a sanitizer must be in the process from its start. A
 * report of the sanitizer ends the program before its last line.
 */
final class SanitizedVerbs {
  private SanitizedVerbs() {}

  private static final class Counts {
    private final AtomicInteger run = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicInteger skipped = new AtomicInteger();
    private volatile long started;
    private volatile long nanos;

    void add(TestIdentifier what, Status status) {
      if (what.isTest()) {
        run.incrementAndGet();
      }
      if (status == Status.FAILED) {
        failed.incrementAndGet();
      } else if (what.isTest() && status == Status.ABORTED) {
        skipped.incrementAndGet();
      }
    }

    String line(String name) {
      return String.format(
          Locale.ROOT,
          "Tests run: %s, Failures: %s, Skipped: %s, Time elapsed: %.1f s -- in %s",
          run,
          failed,
          skipped,
          nanos / (double) TimeUnit.SECONDS.toNanos(1),
          name);
    }
  }

  /** Counts tests by class. Called by all threads that run tests. */
  private static final class CountsByClass implements TestExecutionListener {
    private final Map<String, Counts> counts = new ConcurrentHashMap<>();

    private Optional<Counts> of(TestIdentifier what) {
      return UniqueId.parse(what.getUniqueId()).getSegments().stream()
          .filter(segment -> segment.getType().equals("class"))
          .map(segment -> segment.getValue().replaceAll(".*\\.", ""))
          .findFirst()
          .map(name -> counts.computeIfAbsent(name, n -> new Counts()));
    }

    private static boolean isClass(TestIdentifier what) {
      return UniqueId.parse(what.getUniqueId()).getLastSegment().getType().equals("class");
    }

    @Override
    public void executionStarted(TestIdentifier what) {
      if (isClass(what)) {
        of(what).ifPresent(counts -> counts.started = System.nanoTime());
      }
    }

    @Override
    public void executionSkipped(TestIdentifier what, String reason) {
      of(what).ifPresent(counts -> counts.add(what, Status.ABORTED));
    }

    @Override
    public void executionFinished(TestIdentifier what, TestExecutionResult result) {
      of(what).ifPresent(counts -> counts.add(what, result.getStatus()));
      if (isClass(what)) {
        of(what).ifPresent(counts -> counts.nanos = System.nanoTime() - counts.started);
      }
    }
  }

  /** Prints the loaded sanitizers, and then a line for each class. */
  public static void main(String[] classes) throws Exception {
    var summary = new SummaryGeneratingListener();
    var counts = new CountsByClass();
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
            summary,
            counts);
    System.out.println("sanitizers: " + Sanitizer.loaded());
    counts.counts.forEach((name, ofClass) -> System.out.println(ofClass.line(name)));
    summary.getSummary().printFailuresTo(new PrintWriter(System.err, true, UTF_8));
    // Exits even if a test left a thread behind.
    System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
  }
}
