// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The CPU of each end. The scheduler sometimes puts two spinning ends on one CPU, where they wait
 * for its time slices of 4 ms each, so that nothing else is measured. An end that spins alone may
 * use all CPUs, to avoid the one that does the kernel's work.
 */
enum Cpu {
  NEAR("0"),
  FAR("1");

  private static final String ALL = "0,1";

  private final String number;

  Cpu(String number) {
    this.number = number;
  }

  private String list(Job job) {
    return job == Job.PING_PONG ? number : ALL;
  }

  /** Returns the prefix of a command that pins its process to the CPU. */
  List<String> pin(Job job) {
    return List.of("taskset", "--cpu-list", list(job));
  }

  /** Pins a process, with all its threads, to the CPU. */
  void pin(Job job, long pid) throws IOException, InterruptedException {
    Process taskset =
        new ProcessBuilder(
                "taskset", "--all-tasks", "--pid", "--cpu-list", list(job), Long.toString(pid))
            .redirectErrorStream(true)
            .start();
    String said = new String(taskset.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (taskset.waitFor() != 0) {
      throw new IOException("taskset: " + said);
    }
  }
}
