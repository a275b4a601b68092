package io.verbena.tools.stat;

import io.verbena.tools.end.ToolFailure;
import java.util.concurrent.TimeUnit;

/**
 * How often something is looked at.
 *
 * @param seconds between two looks
 * @param count looks
 */
record Intervals(int seconds, int count) {

  /** A look. */
  interface Look {
    void look() throws InterruptedException, ToolFailure;
  }

  void each(Look look) throws InterruptedException, ToolFailure {
    for (int i = 0; i < count; i++) {
      if (i > 0) {
        TimeUnit.SECONDS.sleep(seconds);
      }
      look.look();
    }
  }
}
