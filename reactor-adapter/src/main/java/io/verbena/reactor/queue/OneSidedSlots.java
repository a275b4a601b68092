// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePair;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a send queue that READs, WRITEs and atomics may take: all but a few, which are left
 * to frames. READs of long messages take no more slots than the device has READs in flight at once.
 * Only on the loop.
 */
public final class OneSidedSlots {
  private static final int FRAME_SLOTS = 2;
  private static final int LONGEST_TRANSFER = 1 << 30;

  private final SendSlots sends;
  private final int longestTransfer;
  private final int readDepth;
  private final QueuePair pair;
  private final boolean deviceHasAtomics;
  private int reads;

  /** Whether a long message took the last slot, so that the next one is an operation's. */
  private boolean isTurnOfOperations;

  /** Creates the one-sided slots of {@code sends}, the send queue of {@code pair}. */
  public OneSidedSlots(SendSlots sends, QueuePair pair, DeviceAttributes device) {
    this.sends = sends;
    this.pair = pair;
    longestTransfer = Math.min(LONGEST_TRANSFER, device.maxMessageSize());
    readDepth = Math.max(1, device.maxReadAtomicAsInitiator());
    deviceHasAtomics = device.supports(Capability.ATOMICS);
  }

  /** Returns the slots of the queue. */
  public SendSlots sends() {
    return sends;
  }

  /** Returns the most bytes that one request moves. */
  public int longestTransfer() {
    return longestTransfer;
  }

  /**
   * Returns why no atomic can be posted, or null. If the device or the peer has no atomics, the
   * device refuses the whole list of requests that has one.
   */
  public @Nullable String lackOfAtomics() {
    if (!deviceHasAtomics) {
      return "the HCA has no atomics";
    }
    return pair.supports(Capability.ATOMICS) ? null : "the peer has no atomics";
  }

  /** Returns whether a one-sided operation may take a slot. */
  public boolean mayPost() {
    return sends.free() > FRAME_SLOTS;
  }

  /**
   * Makes frames with data leave the next slot to one-sided operations while these are starved:
   * otherwise a stream of frames could take all slots for ever.
   *
   * @param starved whether operations wait while none is in flight
   */
  public void share(boolean starved) {
    sends.keep(starved && !mayPost() ? FRAME_SLOTS + 1 : 0);
  }

  /**
   * Returns whether operations come before READs of long messages. The two take turns while both
   * wait, as either could take every slot that comes free.
   */
  public boolean isTurnOfOperations() {
    return isTurnOfOperations;
  }

  /** Records that an operation has taken a slot. */
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
