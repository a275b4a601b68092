package io.verbena.benchmarks.cost;

import java.util.List;

/**
 * The CPU of each end. Two ends that spin do not fit on one CPU, and the scheduler puts them there
 * now and then: they would wait for its time slices, 4 ms each, and nothing else be measured.
 */
enum Cpu {
  NEAR("0"),
  FAR("1");

  private final String number;

  Cpu(String number) {
    this.number = number;
  }

  /** What comes before a command to keep it there. */
  List<String> pin() {
    return List.of("taskset", "--cpu-list", number);
  }
}
