// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.verbs.DeviceCounters.Counter;

/**
 * Decides how long the oldest request of a send queue waits for a peer that is not ready, and when
 * it is tried again without a signal of the peer. Used by the owner of the queue only.
 */
final class SendRetry {
  private static final long FIRST_LOOK_NANOS = 100_000;
  private static final long LAST_LOOK_NANOS = 10_000_000;
  private static final int FOR_EVER = 7;

  private final DirectQueuePair pair;
  private final Runnable timerFired;
  private TransferResult stall = TransferResult.DONE;
  private long deadline;
  private long nextLookNanos;
  private boolean timerSet;

  /**
   * Creates a retry for a queue in which nothing waits.
   *
   * @param timerFired called by the device's timer, not under ownership; it must call {@link
   *     #fired}
   */
  SendRetry(DirectQueuePair pair, Runnable timerFired) {
    this.pair = pair;
    this.timerFired = timerFired;
  }

  /** Returns whether a stalled request may wait further, and if so sets the time to retry it. */
  boolean mayWait(TransferResult result) {
    long now = System.nanoTime();
    if (stall != result) {
      stall = result;
      deadline = now + maxWaitNanos(result);
      if (result == TransferResult.RECEIVER_NOT_READY) {
        countReceiverNotReady();
      }
      nextLookNanos = FIRST_LOOK_NANOS;
    }
    long left = deadline - now;
    if (left <= 0) {
      return false;
    }
    if (!timerSet) {
      timerSet = true;
      pair.device().schedule(timerFired, Math.min(left, nextLookNanos));
      nextLookNanos = Math.min(2 * nextLookNanos, LAST_LOOK_NANOS);
    }
    return true;
  }

  /** Records that nothing stalls the oldest request any more. */
  void proceeded() {
    stall = TransferResult.DONE;
  }

  /** Records that the timer has fired. Called under ownership. */
  void fired() {
    timerSet = false;
  }

  /**
   * Counts one RNR for each request that has to wait; a wire would carry a NAK for each attempt.
   */
  private void countReceiverNotReady() {
    pair.count(Counter.RNR_RECEIVED);
    DirectQueuePair peer = pair.peer();
    if (peer != null) {
      peer.count(Counter.RNR_SENT);
    }
  }

  /**
   * Returns how long a request may wait, in nanoseconds: as long as all its retries would take on a
   * wire.
   */
  private long maxWaitNanos(TransferResult result) {
    if (result == TransferResult.RECEIVER_NOT_READY) {
      int retries = pair.rnrRetry();
      return retries == FOR_EVER ? Long.MAX_VALUE / 2 : retries * pair.peerRnrTimerNanos();
    }
    int exponent = pair.timeout();
    return exponent == 0 ? Long.MAX_VALUE / 2 : (pair.retryCount() + 1) * (4096L << exponent);
  }
}
