// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations that wait for a loop with a deadline: those that were {@linkplain #add added},
 * waiting tasks, and operations in progress at the loop's members. Any thread may add and remove;
 * only one watchdog calls the other methods.
 */
public final class Waiters {
  private final CompletionLoop loop;
  private final Map<Awaited, Long> added = new ConcurrentHashMap<>();

  /**
   * The times at which the watchdog first saw all other operations, which are not added, as that
   * would cost time for each.
   */
  private final Map<Awaited, Long> seen = new HashMap<>();

  Waiters(CompletionLoop loop) {
    this.loop = loop;
  }

  /** Adds an operation, whose deadline runs from now; does nothing if it was added already. */
  public void add(Awaited waiter) {
    added.putIfAbsent(waiter, System.nanoTime());
  }

  /** Removes an operation that no longer waits. */
  public void remove(Awaited waiter) {
    added.remove(waiter);
  }

  /** Returns the number of operations that were added and not removed. */
  public int count() {
    return added.size();
  }

  /** Called when the loop has done a duty cycle since the last check. */
  public void forgetSeen() {
    if (!seen.isEmpty()) {
      seen.clear();
    }
  }

  /** Called when the loop has done no duty cycle since the last check: notes which tasks wait. */
  public void noteTasks(long now) {
    loop.forEachWaiting(
        task -> {
          if (task instanceof Awaited awaited) {
            seen.putIfAbsent(awaited, now);
          }
        });
  }

  /**
   * Notes the operations in progress at the loop's members.
   *
   * @param since the time since which the loop has been held up, in nanoseconds
   */
  public void noteTakenUp(long since) {
    long tick = loop.tickNanos();
    loop.forEachTakenUp((awaited, ticks) -> seen.merge(awaited, since - ticks * tick, Math::min));
  }

  /**
   * Ends the waits whose deadlines have passed.
   *
   * @param now the time, in nanoseconds
   * @param why the loop that is held up
   * @param tell runs the signals of the ended waits
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
