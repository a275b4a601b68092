// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * Finds lost packets long before the timeout, at the cost of one or two packets if answers are only
 * late. As with TCP's tail loss probe (RFC 8985, section 7.3), a probe does not count as
 * congestion.
 *
 * <pre>
 *  no answer for a while            the oldest packet is sent once more
 *  then: all are answered           nothing: the answer was late, or that packet alone was lost
 *  then: not all are answered       the newest packet is sent once more: a receiver that lacks one
 *                                   before it sends a NAK, and one that has them all acknowledges
 *                                   them all
 * </pre>
 */
final class LossProbe {
  /** A packet to send once more, out of order. */
  enum Packet {
    NONE,
    OLDEST,
    NEWEST
  }

  private Packet next = Packet.NONE;
  private boolean out;

  /** One past the PSNs that the oldest packet covers; a READ request covers several. */
  private int end;

  /** One past the PSNs that were in flight when the oldest packet was sent once more. */
  private int sentEnd;

  /** Ends probing, since all packets are sent again or answered. */
  void clear() {
    next = Packet.NONE;
    out = false;
  }

  /** Starts a probe, since no answer has come for a while. */
  void begin() {
    next = Packet.OLDEST;
  }

  /** Returns the packet to send once more, and forgets it. */
  Packet take() {
    Packet taken = next;
    next = Packet.NONE;
    return taken;
  }

  boolean isToSend() {
    return next != Packet.NONE;
  }

  /**
   * Notes that the oldest packet was sent once more. {@code psnEnd} is one past the PSNs that it
   * covers, {@code allEnd} one past all PSNs in flight.
   */
  void sentOldest(int psnEnd, int allEnd) {
    out = true;
    end = psnEnd;
    sentEnd = allEnd;
  }

  /** Notes an answer; {@code unacknowledged} is the oldest PSN that is still not answered. */
  void answered(int unacknowledged) {
    if (out && Psn.difference(unacknowledged, end) >= 0) {
      out = false;
      if (Psn.difference(unacknowledged, sentEnd) < 0) {
        next = Packet.NEWEST;
      }
    }
  }
}
