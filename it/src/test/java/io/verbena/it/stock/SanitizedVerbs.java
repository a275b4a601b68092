// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;

import io.verbena.it.node.Nodes;
import io.verbena.it.verbs.Difference;
import io.verbena.tck.Deviation;
import io.verbena.tck.VerbsTck;
import io.verbena.verbs.CompletionStatus;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the areas of the TCK that cover most of the native libraries in little time, as a program,
 * since a sanitizer has to be in the process from its start. A report of a sanitizer ends the
 * program before its last line.
 */
final class SanitizedVerbs extends VerbsTck {
  private static final List<String> AREAS =
      List.of(
          "MemoryRegions",
          "MemoryWindows",
          "MemoryWindowsOfType1",
          "QueuePairs",
          "SendAndReceive",
          "ReadAndWrite",
          "Atomics",
          "SharedReceiveQueues",
          "Datagrams");
  private static final int CODE_OF_2_SECONDS = 19;
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(21_000);

  /** Prints whether a sanitizer is loaded, and at the end how many tests succeeded. */
  public static void main(String[] arguments) throws Exception {
    var summary = new SummaryGeneratingListener();
    var progress =
        new TestExecutionListener() {
          @Override
          public void executionStarted(TestIdentifier test) {
            System.out.println(test.getDisplayName());
          }
        };
    String tck = VerbsTck.class.getName();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(
                    AREAS.stream()
                        .map(
                            area ->
                                selectNestedClass(
                                    List.of(SanitizedVerbs.class.getName()), tck + "$" + area))
                        .toList())
                .configurationParameter("junit.jupiter.execution.timeout.default", "90 s")
                .filters(EngineFilter.includeEngines("junit-jupiter"))
                .build(),
            summary,
            progress);
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      System.out.println("sanitizer: " + maps.anyMatch(line -> line.contains("libasan")));
    }
    System.out.println("succeeded: " + summary.getSummary().getTestsSucceededCount());
    summary.getSummary().printFailuresTo(new PrintWriter(System.err, true, UTF_8));
    // Exits even if a test left a thread behind.
    System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
  }

  @Override
  protected URI address(String name) {
    int port = PORTS.computeIfAbsent(name, n -> NEXT_PORT.getAndIncrement());
    // With two nodes the route to a local address, without a source, leads through the other node.
    return URI.create("disni://" + Nodes.node1() + ":" + port + "?source=" + Nodes.node1());
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(30);
  }

  /** On a busy machine a guest may need the 67 ms of the default for an acknowledgement. */
  @Override
  protected int ackTimeout() {
    return CODE_OF_2_SECONDS;
  }

  @Override
  protected CompletionStatus expectedStatus(String test, CompletionStatus specified) {
    return Difference.answer(test, specified);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return Difference.deviation(test);
  }

  @Override
  protected int iterations(int full) {
    return Math.max(1, full / 50);
  }
}
