// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import java.util.ArrayList;
import java.util.List;

/** A clock that a test advances, with alarms. */
final class ManualTimeline implements Timeline {
  private static final long NEVER = Long.MAX_VALUE;

  private final List<Entry> entries = new ArrayList<>();
  private long now = 1_000_000;
  private long sequence;

  private final class Entry implements Alarm {
    private final Runnable action;
    private long at = NEVER;
    private long order;

    private Entry(Runnable action) {
      this.action = action;
    }

    @Override
    public void set(long deadline) {
      at = Math.max(now, deadline);
      order = sequence++;
    }

    @Override
    public void cancel() {
      at = NEVER;
    }
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public Alarm alarm(Runnable action) {
    Entry entry = new Entry(action);
    entries.add(entry);
    return entry;
  }

  /** Runs an action once, after this time. */
  void after(long nanos, Runnable action) {
    Entry[] self = new Entry[1];
    self[0] =
        new Entry(
            () -> {
              entries.remove(self[0]);
              action.run();
            });
    self[0].set(now + nanos);
    entries.add(self[0]);
  }

  /** Advances the clock to a time before the next alarm. */
  void turnTo(long time) {
    now = time;
  }

  /** Runs the next alarm that is due by {@code limit}; returns false if there is none. */
  boolean step(long limit) {
    Entry next = null;
    for (Entry entry : entries) {
      if (entry.at != NEVER
          && (next == null
              || entry.at < next.at
              || (entry.at == next.at && entry.order < next.order))) {
        next = entry;
      }
    }
    if (next == null || next.at > limit) {
      return false;
    }
    now = next.at;
    next.at = NEVER;
    next.action.run();
    return true;
  }
}
