// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that tools allocate nothing per message. The client runs in the test's thread. */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int FEW = 1000;
  private static final int MANY = 6_000;

  @ParameterizedTest
  @CsvSource({
    "perf write bw --local -s 64 -N, 0",
    "perf send bw --local -s 64 -N, 0",
    // Latency tests store the start and the duration of each round.
    "perf read lat --local, 16",
    "perf write lat --local, 16",
    "perf send lat --local, 16",
    "pingpong --local -c -s 64, 0",
  })
  void aMessageCostsNoAllocation(String line, int bytes) {
    allocated(line, FEW);
    long few = allocated(line, FEW);
    long many = allocated(line, MANY);

    // The smallest object has 16 bytes.
    assertThat((many - few) / (MANY - FEW)).isLessThan(bytes + 8);
  }

  private static long allocated(String line, int count) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    Run run = Run.of(line + " -n " + count);
    long after = THREADS.getCurrentThreadAllocatedBytes();
    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    return after - before;
  }
}
