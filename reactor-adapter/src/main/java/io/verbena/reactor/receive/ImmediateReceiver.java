// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.RdmaConnection.Immediate;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.credit.ReceiveCredits;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;

/**
 * Keeps the peer's immediates until they are requested. They have credits of their own, so that an
 * end that never requests any stalls only its peer's notices.
 */
public final class ImmediateReceiver extends DemandQueue<Immediate> {
  private final ReceiveCredits credits;
  private final int window;
  private final ArrayDeque<Immediate> queue = new ArrayDeque<>();

  /**
   * @param credits the peer's credits of immediates
   * @param window the first grant
   */
  public ImmediateReceiver(
      ReceiveCredits credits, int window, DutyCycleEnd turn, FailureGuard guard) {
    super("immediates", turn, guard);
    this.credits = credits;
    this.window = window;
  }

  /**
   * Takes an immediate that arrived.
   *
   * @throws ProtocolException if the peer had no credit for it, or the length is negative
   */
  public void arrived(int value, int length) {
    if (!credits.arrive() || length < 0) {
      throw ProtocolException.malformed(
          length < 0 ? "immediate length" : "immediates on their way",
          length < 0 ? length : window + 1L,
          length < 0 ? ">= 0" : "<= " + window);
    }
    queue.add(new Immediate(value, length));
    drain();
  }

  @Override
  void drain() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      DemandSubscription<Immediate> to = subscriber;
      while (to != null && !queue.isEmpty() && to.demand() > 0) {
        credits.free();
        to.next(queue.remove());
        to = subscriber;
      }
    } finally {
      delivering = false;
    }
    endIfDelivered();
    turn.ask();
  }

  @Override
  public boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Drops undelivered immediates. */
  public void discard() {
    queue.clear();
    endIfDelivered();
  }
}
