// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/**
 * The slots of a shared receive queue that one queue pair holds for the receives that it has taken.
 * The taker counts in the queue pair's own ring and the polling thread counts here, on separate
 * cache lines, so neither waits for the other. Free slots are reported to the shared queue, which
 * costs more, only from time to time or when that queue needs some. The fields of this object
 * itself do not change with each message, so both threads read them cheaply.
 */
public final class TakenReceives {
  private static final int REPORT_EVERY = 16;

  private final EmulatedSharedReceiveQueue shared;
  private final EmulatedQueuePair user;

  /** One past the last taken receive whose completion was polled. */
  private final PaddedLong polled = new PaddedLong();

  /** One past the last receive whose slot was reported to the shared queue as free. */
  private final PaddedLong reported = new PaddedLong();

  /**
   * True while the queue pair waits for its turn, after it found the shared queue empty; accessed
   * by that queue.
   */
  boolean starved;

  /** Creates a count of no slots. */
  public TakenReceives(EmulatedSharedReceiveQueue shared, EmulatedQueuePair user) {
    this.shared = shared;
    this.user = user;
  }

  EmulatedQueuePair user() {
    return user;
  }

  /** Takes the next receive into {@code own}, if there is one. Called by the taker. */
  public boolean takeInto(ReceiveRing own) {
    return shared.takeInto(own, this);
  }

  /**
   * Prefetches the next receive from the poster's cache before a message needs it. Called by the
   * taker.
   */
  public void warm(ReceiveRing own) {
    shared.warm(own);
  }

  /**
   * Records that the completions of all receives before {@code position} were polled. Called by the
   * polling thread.
   */
  public void polled(long position) {
    if (position > polled.getOpaque()) {
      polled.setRelease(position);
      if (position - reported.getOpaque() >= REPORT_EVERY) {
        report(position);
      }
    }
  }

  /**
   * Frees all slots before {@code position} after a reset; later polls of earlier completions free
   * no slots.
   */
  public void drop(long position) {
    polled.setRelease(position);
    report(position);
  }

  /** Reports the slots of all polled receives to the shared queue as free. Thread-safe. */
  public void report() {
    report(polled.getAcquire());
  }

  private void report(long position) {
    long before = reported.getOpaque();
    while (before < position) {
      if (reported.compareAndSet(before, position)) {
        shared.free(position - before);
        return;
      }
      before = reported.getOpaque();
    }
  }

  /** Returns the number of receives whose completions were polled. Thread-safe. */
  long polled() {
    return polled.getAcquire();
  }
}
