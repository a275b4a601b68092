// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.tools.end.ToolFailure;
import java.util.concurrent.TimeUnit;

/**
 * Repeats an action at intervals.
 *
 * @param seconds between two actions
 * @param count number of actions
 */
record Intervals(int seconds, int count) {

  /** An action. */
  interface Action {
    void run() throws InterruptedException, ToolFailure;
  }

  void each(Action action) throws InterruptedException, ToolFailure {
    for (int i = 0; i < count; i++) {
      if (i > 0) {
        TimeUnit.SECONDS.sleep(seconds);
      }
      action.run();
    }
  }
}
