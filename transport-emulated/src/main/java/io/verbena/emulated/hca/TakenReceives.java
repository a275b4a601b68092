// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/**
 * How many receives of a shared receive queue one queue pair has taken whose slots it still holds.
 * Counted, since completions are polled by others than those who take, and are never polled when
 * the queue pair is gone.
 */
public final class TakenReceives {
  private final EmulatedSharedReceiveQueue shared;
  private final PaddedLong held = new PaddedLong();

  /** None yet. */
  public TakenReceives(EmulatedSharedReceiveQueue shared) {
    this.shared = shared;
  }

  /** For the taker: takes the next receive into {@code own}, if there is one. */
  public boolean takeInto(ReceiveRing own) {
    if (!shared.takeInto(own)) {
      return false;
    }
    held.getAndAdd(1);
    return true;
  }

  /** A completion of one was polled; nothing if it was taken before a {@link #drop}. */
  public void polled() {
    long now = held.getOpaque();
    while (now > 0) {
      if (held.compareAndSet(now, now - 1)) {
        shared.free(1);
        return;
      }
      now = held.getOpaque();
    }
  }

  /** How many there are; for anybody. */
  long held() {
    return held.getAcquire();
  }

  /** Frees all slots, since their completions mean nothing any more. */
  public void drop() {
    long now = held.getOpaque();
    while (!held.compareAndSet(now, 0)) {
      now = held.getOpaque();
    }
    shared.free(now);
  }
}
