// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The CPU of each end. Two ends that spin do not fit on one CPU, and the scheduler puts them there
 * now and then: they would wait for its time slices, 4 ms each, and nothing else be measured. An
 * end that spins alone goes where it likes, out of the way of the kernel's work.
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

  /** The words before a command that keep it there. */
  List<String> pin(Job job) {
    return List.of("taskset", "--cpu-list", list(job));
  }

  /** Keeps a process there, with all its threads. */
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
