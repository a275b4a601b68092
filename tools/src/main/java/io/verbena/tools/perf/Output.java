// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.List;

/** Prints results. */
interface Output {

  /**
   * Called when a test begins.
   *
   * @param facts lines that describe the test and its devices
   * @param titles of perftest's columns
   */
  void begin(PerfPlan plan, List<String> facts, String titles);

  /** Called when a size was measured. */
  void result(Result result);

  /** Ends the output. */
  void end();
}
