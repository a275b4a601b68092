package io.verbena.tools.stat;

import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.util.List;

/** How queue pairs are printed. */
interface PairOutput {

  /** Prints them all as they are now. */
  void print(List<View> pairs);
}
