// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.verbs.DeviceCounters.Counter;

/**
 * How long the oldest request of a send queue waits for a peer that is not ready, and when it is
 * tried again without a word of the peer. For the owner of the queue.
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
   * Nothing waits.
   *
   * @param timerFired called by the device's timer, not under ownership; calls {@link #fired} then
   */
  SendRetry(DirectQueuePair pair, Runnable timerFired) {
    this.pair = pair;
    this.timerFired = timerFired;
  }

  /** Whether a request may wait further for what keeps it; it is tried again then. */
  boolean mayWait(TransferResult result) {
    long now = System.nanoTime();
    if (stall != result) {
      stall = result;
      deadline = now + patience(result);
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

  /** Nothing keeps the oldest request any more. */
  void proceeded() {
    stall = TransferResult.DONE;
  }

  /** The timer has fired, and ownership is taken. */
  void fired() {
    timerSet = false;
  }

  /** Once for each request that has to wait, where a wire would carry a NAK for each try. */
  private void countReceiverNotReady() {
    pair.count(Counter.RNR_RECEIVED);
    DirectQueuePair peer = pair.peer();
    if (peer != null) {
      peer.count(Counter.RNR_SENT);
    }
  }

  /** How long a request may wait, in nanoseconds: what all its retries would take on a wire. */
  private long patience(TransferResult result) {
    if (result == TransferResult.RECEIVER_NOT_READY) {
      int retries = pair.rnrRetry();
      return retries == FOR_EVER ? Long.MAX_VALUE / 2 : retries * pair.peerRnrTimerNanos();
    }
    int exponent = pair.timeout();
    return exponent == 0 ? Long.MAX_VALUE / 2 : (pair.retryCount() + 1) * (4096L << exponent);
  }
}
