// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a loop, with a deadline: what was added here, tasks that wait to be run, and what
 * its members have taken up. Adding and removing may be done by any thread, the rest by one
 * watchdog.
 */
public final class Waiters {
  private final CompletionLoop loop;
  private final Map<Awaited, Long> added = new ConcurrentHashMap<>();

  /** Since when all others wait: they are not added, which would cost each of them. */
  private final Map<Awaited, Long> seen = new HashMap<>();

  Waiters(CompletionLoop loop) {
    this.loop = loop;
  }

  /** The deadline of {@code waiter} runs from now, unless it does already. */
  public void add(Awaited waiter) {
    added.putIfAbsent(waiter, System.nanoTime());
  }

  /** Nobody waits for it any more. */
  public void remove(Awaited waiter) {
    added.remove(waiter);
  }

  /** Returns how many were added and not removed. */
  public int count() {
    return added.size();
  }

  /** The loop has gone on since it was last looked at. */
  public void forgetSeen() {
    if (!seen.isEmpty()) {
      seen.clear();
    }
  }

  /** The loop has not gone on since it was last looked at: notes which tasks wait. */
  public void noteTasks(long now) {
    loop.forEachWaiting(
        task -> {
          if (task instanceof Awaited awaited) {
            seen.putIfAbsent(awaited, now);
          }
        });
  }

  /** The loop has not gone on since then: notes who waits for what it had taken up. */
  public void noteTakenUp(long since) {
    long tick = loop.tickNanos();
    loop.forEachTakenUp((awaited, ticks) -> seen.merge(awaited, since - ticks * tick, Math::min));
  }

  /**
   * Ends the wait of all whose deadlines have passed.
   *
   * @param tell runs what tells them
   */
  public void expire(long now, HeldUp why, Consumer<Runnable> tell) {
    expire(added, now, why, tell);
    expire(seen, now, why, tell);
  }

  private static void expire(
      Map<Awaited, Long> waiting, long now, HeldUp why, Consumer<Runnable> tell) {
    for (Iterator<Map.Entry<Awaited, Long>> each = waiting.entrySet().iterator();
        each.hasNext(); ) {
      Map.Entry<Awaited, Long> next = each.next();
      Awaited awaited = next.getKey();
      if (now - next.getValue() >= awaited.patience()) {
        each.remove();
        @Nullable Runnable telling = awaited.expire(why);
        if (telling != null) {
          tell.accept(telling);
        }
      }
    }
  }
}
