// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/**
 * The slots of a shared receive queue that one queue pair holds by the receives it has taken.
 * Whoever takes counts in the queue pair's own ring, whoever polls counts here, each on cache lines
 * of its own: neither waits for the other. Slots are free when the queue is told, which costs more:
 * now and then, or when it looks for some. Nothing here changes with each message: both sides read
 * it.
 */
public final class TakenReceives {
  private static final int TELL_EVERY = 16;

  private final EmulatedSharedReceiveQueue shared;
  private final EmulatedQueuePair user;

  /**
   * One past the last receive, among those that the queue pair took, whose completion was polled.
   */
  private final PaddedLong polled = new PaddedLong();

  /** Of those, one past the last that the queue was told of. */
  private final PaddedLong told = new PaddedLong();

  /** Whether the queue pair waits for its turn, having found the queue empty; of the queue. */
  boolean starved;

  /** None yet. */
  public TakenReceives(EmulatedSharedReceiveQueue shared, EmulatedQueuePair user) {
    this.shared = shared;
    this.user = user;
  }

  EmulatedQueuePair user() {
    return user;
  }

  /** For the taker: takes the next receive into {@code own}, if there is one. */
  public boolean takeInto(ReceiveRing own) {
    return shared.takeInto(own, this);
  }

  /** For the taker: gets the next receive out of the poster's cache when nobody waits for it. */
  public void warm(ReceiveRing own) {
    shared.warm(own);
  }

  /** For who polls: the completions of all receives before {@code position} were polled. */
  public void polled(long position) {
    if (position > polled.getOpaque()) {
      polled.setRelease(position);
      if (position - told.getOpaque() >= TELL_EVERY) {
        tell(position);
      }
    }
  }

  /** Frees all slots before {@code position}: after a reset, completions mean nothing any more. */
  public void drop(long position) {
    polled.setRelease(position);
    tell(position);
  }

  /** Frees the slots of all receives that were polled; for anybody. */
  public void tell() {
    tell(polled.getAcquire());
  }

  private void tell(long position) {
    long before = told.getOpaque();
    while (before < position) {
      if (told.compareAndSet(before, position)) {
        shared.free(position - before);
        return;
      }
      before = told.getOpaque();
    }
  }

  /** How many receives were polled; for anybody. */
  long polled() {
    return polled.getAcquire();
  }
}
