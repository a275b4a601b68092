// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.List;

/** Prints results. */
interface Output {

  /**
   * A test begins.
   *
   * @param facts lines that say what and where
   * @param titles of perftest's columns
   */
  void begin(PerfPlan plan, List<String> facts, String titles);

  /** A size was measured. */
  void result(Result result);

  /** Ends the output. */
  void end();
}
