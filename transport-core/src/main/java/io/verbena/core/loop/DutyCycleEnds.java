// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The actions that connections of a loop have requested for the end of the duty cycle. Only on the
 * loop.
 */
public final class DutyCycleEnds {
  private @Nullable DutyCycleEnd[] asked = new @Nullable DutyCycleEnd[16];
  private @Nullable DutyCycleEnd[] running = new @Nullable DutyCycleEnd[16];
  private int count;

  /** Returns whether no action was requested since the last {@link #run}. */
  public boolean isEmpty() {
    return count == 0;
  }

  void add(DutyCycleEnd end) {
    if (count == asked.length) {
      asked = Arrays.copyOf(asked, count * 2);
    }
    asked[count++] = end;
  }

  /**
   * Runs the requested actions. An action that is requested again meanwhile runs next time, so that
   * it does not block others.
   *
   * @return the number of actions run
   */
  public int run() {
    @Nullable DutyCycleEnd[] now = asked;
    int called = count;
    asked = running;
    running = now;
    count = 0;
    for (int i = 0; i < called; i++) {
      DutyCycleEnd end = now[i];
      now[i] = null;
      if (end != null) {
        end.run();
      }
    }
    return called;
  }
}
