package io.verbena.reactor.connection;

import io.verbena.core.loop.CompletionLoop;

/**
 * Messages that were not delivered when the connection closed. They are kept for the subscriber; if
 * there is none, only for as long as a close may take.
 */
final class Leftovers implements CompletionLoop.TickListener {
  private final Inbound inbound;
  private int ticks;

  Leftovers(Inbound inbound, int ticks) {
    this.inbound = inbound;
    this.ticks = ticks;
  }

  @Override
  public boolean tick() {
    if (!inbound.isEmpty() && !inbound.hasSubscriber() && --ticks < 0) {
      inbound.discard();
    }
    return !inbound.isEmpty();
  }

  @Override
  public void shutDown() {
    inbound.discard();
  }
}
