// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionChannel;
import org.jspecify.annotations.Nullable;

/**
 * The events of a completion channel, for a loop that sleeps elsewhere, for example in a selector.
 * The provider calls a listener for each event; if it cannot, a thread of this object awaits the
 * events. Only {@link #haveCome} may be called by other threads than the loop's.
 *
 * <p>The loop {@linkplain #take takes} events before it arms its queues. It marks itself as
 * sleeping, and then checks whether events {@linkplain #haveCome have come}. So either the loop
 * sees an event, or the thread that raised the event sees that the loop sleeps.
 */
public final class CompletionEvents {
  private final Runnable wakeup;
  private final @Nullable EventWatcher watcher;

  /** Initially true: events may have come before the watching began. */
  private volatile boolean came = true;

  /**
   * Watches a channel.
   *
   * @param channel the channel
   * @param wakeup ends the loop's sleep, if it sleeps; called after an event, by any thread; must
   *     not block or throw
   * @param name the name of the thread, if one is needed
   */
  public CompletionEvents(CompletionChannel channel, Runnable wakeup, String name) {
    this.wakeup = wakeup;
    watcher = channel.listen(this::raised) ? null : EventWatcher.start(channel, this::raised, name);
  }

  private void raised() {
    came = true;
    wakeup.run();
  }

  /** Returns whether events may have come that were not taken. */
  public boolean haveCome() {
    return came;
  }

  /**
   * Takes and acknowledges all events that have come.
   *
   * @param queues the queues of the channel
   * @return whether there were any
   * @throws io.verbena.verbs.VerbsException if the channel failed
   */
  public boolean take(CompletionQueues<?> queues) {
    came = false;
    return watcher == null ? queues.takeEvents() : watcher.take(queues);
  }

  /**
   * Stops watching the channel; to be called before the queues are closed. Idempotent.
   *
   * @throws io.verbena.verbs.VerbsException {@code BUSY} if the thread does not end within 10 s
   */
  public void close(CompletionQueues<?> queues) {
    if (watcher != null) {
      watcher.stop();
      boolean unused = watcher.take(queues);
    }
  }
}
