// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;

/**
 * The slots of a send queue that READs, WRITEs and atomics may take: all but a few that are left to
 * frames. READs of long messages, moreover, are no more than the device has in flight at once.
 */
public final class OneSidedSlots {
  private static final int FRAME_SLOTS = 2;
  private static final int LONGEST_TRANSFER = 1 << 30;

  private final SendSlots sends;
  private final int longestTransfer;
  private final int readDepth;
  private final boolean hasAtomics;
  private int reads;

  /** Whether a long message had the last slot, and the next is an operation's. */
  private boolean isTurnOfOperations;

  /** The slots of {@code sends}, a queue of this device. */
  public OneSidedSlots(SendSlots sends, DeviceAttributes device) {
    this.sends = sends;
    longestTransfer = Math.min(LONGEST_TRANSFER, device.maxMessageSize());
    readDepth = Math.max(1, device.maxReadAtomicAsInitiator());
    hasAtomics = device.supports(Capability.ATOMICS);
  }

  /** The queue. */
  public SendSlots sends() {
    return sends;
  }

  /** The most bytes that one request moves. */
  public int longestTransfer() {
    return longestTransfer;
  }

  /** Returns whether the device has atomics: if not, it refuses the list that one is in. */
  public boolean hasAtomics() {
    return hasAtomics;
  }

  /** Returns whether a one-sided operation may take a slot. */
  public boolean mayPost() {
    return sends.free() > FRAME_SLOTS;
  }

  /**
   * Has frames with data leave the next slot to one-sided operations, or not any more: as frames
   * may take the last slots, a stream of them would leave too few for ever.
   *
   * @param starved whether some wait while none is in flight
   */
  public void share(boolean starved) {
    sends.keep(starved && !mayPost() ? FRAME_SLOTS + 1 : 0);
  }

  /**
   * Returns whether operations come before READs of long messages where both wait: each of them
   * would take for ever what comes free.
   */
  public boolean isTurnOfOperations() {
    return isTurnOfOperations;
  }

  /** An operation has taken a slot. */
  public void operationPosted() {
    isTurnOfOperations = false;
  }

  /** Returns whether a READ of a long message is in flight. */
  public boolean isReading() {
    return reads > 0;
  }

  /** Returns whether a long message may take a slot for one of its READs. */
  public boolean mayPostRead() {
    return mayPost() && reads < readDepth;
  }

  /** Counts a READ of a long message that was posted. */
  public void readPosted() {
    reads++;
    isTurnOfOperations = true;
  }

  /** Counts a READ of a long message that ended. */
  public void readEnded() {
    reads--;
  }
}
