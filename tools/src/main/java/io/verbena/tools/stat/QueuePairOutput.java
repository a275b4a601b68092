// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.util.List;

/** Prints queue pairs. */
interface QueuePairOutput {

  /** Prints all of them. */
  void print(List<View> pairs);
}
