// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations that wait for a loop with a deadline: those that were added here, tasks that wait
 * to be run, and those whose requests its members have taken up. Adding and removing may be done by
 * any thread, the rest by one watchdog.
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

  /** Removes an operation that does not wait any more. */
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

  /**
   * Notes the operations that wait for what the loop had taken up; the loop has not gone on since
   * then.
   */
  public void noteTakenUp(long since) {
    long tick = loop.tickNanos();
    loop.forEachTakenUp((awaited, ticks) -> seen.merge(awaited, since - ticks * tick, Math::min));
  }

  /**
   * Ends the waits whose deadlines have passed.
   *
   * @param tell runs the signals of their ends
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
