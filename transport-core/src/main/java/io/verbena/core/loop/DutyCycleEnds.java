// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The connections of a loop that asked to be called at the end of its duty cycle. */
public final class DutyCycleEnds {
  private @Nullable DutyCycleEnd[] asked = new @Nullable DutyCycleEnd[16];
  private @Nullable DutyCycleEnd[] running = new @Nullable DutyCycleEnd[16];
  private int count;

  /** Returns whether no connection has asked since the last {@link #run}. */
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
   * Calls those that asked. One that asks again meanwhile is called in the next run: it must not
   * block the others.
   *
   * @return how many were called
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
