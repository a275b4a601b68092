// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import java.util.ArrayList;
import java.util.List;

/** A clock that a test turns, with what is to happen at its times. */
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

  /** Has something done once. */
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

  /** Turns the clock on to where nothing happens. */
  void turnTo(long time) {
    now = time;
  }

  /** Does what is next, unless it is after {@code limit}; false if nothing is. */
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
