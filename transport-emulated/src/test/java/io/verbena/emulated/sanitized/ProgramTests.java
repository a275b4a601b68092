// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.FindingCollector;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Runs small programs and collects the findings. */
abstract class ProgramTests {
  private FindingCollector collector = FindingCollector.start();

  /** A program that runs between connecting and closing two ends. */
  @FunctionalInterface
  interface Program {
    void run(End client, End server);
  }

  @BeforeEach
  void collects() {
    collector.close();
    collector = FindingCollector.start();
  }

  @AfterEach
  void collectsNoMore() {
    collector.close();
  }

  /** Runs a program on two ends with ample queues. */
  static void run(Program program) {
    run(64, 16, program);
  }

  /** Runs a program on two ends with these queue sizes. */
  static void run(int depth, int capacity, Program program) {
    try (End client = new End(depth, capacity, capacity);
        End server = new End(depth, capacity, capacity)) {
      client.connect(server, 7);
      server.connect(client, 7);
      program.run(client, server);
    }
  }

  FindingCollector collector() {
    return collector;
  }

  List<Finding> found() {
    return collector.finish();
  }

  /** Asserts that there is exactly one finding, of this kind and in this method. */
  void assertFound(Finding.Kind kind, String method) {
    List<Finding> found = found();
    assertThat(found)
        .as("findings: %s", found)
        .extracting(Finding::kind, finding -> finding.place().getMethodName())
        .containsExactly(org.assertj.core.groups.Tuple.tuple(kind, method));
  }

  void assertSilent() {
    assertThat(found()).isEmpty();
  }
}
