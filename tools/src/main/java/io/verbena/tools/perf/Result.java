// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.Map;

/** The result of one size. */
interface Result {

  /** The line of perftest's table, without its end. */
  String line();

  /** Every figure by name, with its unit in the name, in order. */
  Map<String, Number> figures();

  /** The distribution of the times. */
  LatencyHistogram histogram();
}
