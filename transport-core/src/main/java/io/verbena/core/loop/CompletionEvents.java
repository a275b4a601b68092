// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionChannel;
import org.jspecify.annotations.Nullable;

/**
 * The events of a completion channel, for a loop that sleeps elsewhere: in a selector, say. The
 * provider calls a listener for each event, or else a thread of its own awaits events. Only {@link
 * #haveCome} may be called by other threads than the loop's.
 *
 * <p>The loop {@linkplain #take takes} events before it arms its queues, and looks whether any
 * {@linkplain #haveCome have come} after it has said that it sleeps: then either it sees the event,
 * or the thread that raised the event sees that the loop sleeps.
 */
public final class CompletionEvents {
  private final Runnable wakeup;
  private final @Nullable EventWatcher watcher;

  /** Events that came before count. */
  private volatile boolean came = true;

  /**
   * Watches a channel.
   *
   * @param wakeup ends the loop's sleep, if it sleeps; called by any thread behind an event. Does
   *     not block, and throws nothing
   * @param name of the thread, if one is needed
   */
  public CompletionEvents(CompletionChannel channel, Runnable wakeup, String name) {
    this.wakeup = wakeup;
    watcher = channel.listen(this::raised) ? null : EventWatcher.start(channel, this::raised, name);
  }

  private void raised() {
    came = true;
    wakeup.run();
  }

  /** Returns whether there may be events that were not taken. */
  public boolean haveCome() {
    return came;
  }

  /**
   * Takes and acknowledges all events that came.
   *
   * @param queues of the channel
   * @return whether there were any
   * @throws io.verbena.verbs.VerbsException if the channel failed
   */
  public boolean take(CompletionQueues<?> queues) {
    came = false;
    return watcher == null ? queues.takeEvents() : watcher.take(queues);
  }

  /**
   * Ends the watching; to be called before the queues are closed. Idempotent.
   *
   * @throws io.verbena.verbs.VerbsException {@code BUSY} if the thread cannot be ended in time
   */
  public void close(CompletionQueues<?> queues) {
    if (watcher != null) {
      watcher.stop();
      boolean unused = watcher.take(queues);
    }
  }
}
