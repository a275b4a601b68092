// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/**
 * The slots of a shared receive queue that one queue pair holds by the receives it has taken. The
 * taker counts in the queue pair's own ring, the polling thread counts here, each on cache lines of
 * its own: neither waits for the other. The shared queue learns of free slots, which costs more,
 * only from time to time, or when it looks for some. Nothing here changes with each message, so
 * that both sides can read it cheaply.
 */
public final class TakenReceives {
  private static final int TELL_EVERY = 16;

  private final EmulatedSharedReceiveQueue shared;
  private final EmulatedQueuePair user;

  /**
   * One past the last receive, among those that the queue pair took, whose completion was polled.
   */
  private final PaddedLong polled = new PaddedLong();

  /** One past the last of those that the shared queue was told of. */
  private final PaddedLong told = new PaddedLong();

  /**
   * True while the queue pair waits for its turn, having found the shared queue empty; for that
   * queue.
   */
  boolean starved;

  /** Creates it without any slots. */
  public TakenReceives(EmulatedSharedReceiveQueue shared, EmulatedQueuePair user) {
    this.shared = shared;
    this.user = user;
  }

  EmulatedQueuePair user() {
    return user;
  }

  /** Takes the next receive into {@code own}, if there is one; for the taker. */
  public boolean takeInto(ReceiveRing own) {
    return shared.takeInto(own, this);
  }

  /** Reads the next receive out of the poster's cache while nobody waits for it; for the taker. */
  public void warm(ReceiveRing own) {
    shared.warm(own);
  }

  /**
   * Notes that the completions of all receives before {@code position} were polled; for the polling
   * thread.
   */
  public void polled(long position) {
    if (position > polled.getOpaque()) {
      polled.setRelease(position);
      if (position - told.getOpaque() >= TELL_EVERY) {
        tell(position);
      }
    }
  }

  /**
   * Frees all slots before {@code position}, after a reset, whose earlier completions do not count.
   */
  public void drop(long position) {
    polled.setRelease(position);
    tell(position);
  }

  /** Frees the slots of all receives that were polled; for any thread. */
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

  /** Returns the number of receives that were polled; for any thread. */
  long polled() {
    return polled.getAcquire();
  }
}
