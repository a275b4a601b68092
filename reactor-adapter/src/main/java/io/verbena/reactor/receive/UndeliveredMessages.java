// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.core.loop.CompletionLoop;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the messages that were not delivered when the connection closed: for the subscriber, or if
 * there is none, for as long as a close may take.
 */
final class UndeliveredMessages implements CompletionLoop.TickListener {
  private final MessageReceiver receiver;
  private int ticks;

  UndeliveredMessages(MessageReceiver receiver, int ticks) {
    this.receiver = receiver;
    this.ticks = ticks;
  }

  @Override
  public boolean tick() {
    if (!receiver.isEmpty() && !receiver.hasSubscriber() && --ticks < 0) {
      receiver.discard();
    }
    return !receiver.isEmpty();
  }

  @Override
  public void shutDown(@Nullable Throwable broken) {
    receiver.discard();
  }
}
