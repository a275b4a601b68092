// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * Looks for lost packets long before the timeout, at the cost of one or two packets where answers
 * are only late. Like the tail loss probe of TCP (RFC 8985, section 7.3), it says nothing about the
 * way being congested.
 *
 * <pre>
 *  no answer for a while            the oldest packet is sent once more
 *  then: all is answered            nothing: the answer was late, or that packet alone was lost
 *  then: not all is answered        the newest packet is sent once more: a receiver that lacks one
 *                                   before it sends a NAK, and one that has them all acknowledges
 *                                   them all
 * </pre>
 */
final class LossProbe {
  /** A packet that is to be sent once more, beside those that are sent in their turn. */
  enum Packet {
    NONE,
    OLDEST,
    NEWEST
  }

  private Packet next = Packet.NONE;
  private boolean out;

  /** One past the PSNs that the oldest packet stands for; a READ request stands for several. */
  private int end;

  /** One past the PSNs that were out then. */
  private int sentEnd;

  /** Nothing is to be looked for, as all is sent again or answered. */
  void clear() {
    next = Packet.NONE;
    out = false;
  }

  /** No answer has come for a while. */
  void begin() {
    next = Packet.OLDEST;
  }

  /** Which packet is to be sent once more; asked once. */
  Packet take() {
    Packet taken = next;
    next = Packet.NONE;
    return taken;
  }

  boolean isToSend() {
    return next != Packet.NONE;
  }

  /** The oldest packet was sent once more. */
  void sentOldest(int psnEnd, int allEnd) {
    out = true;
    end = psnEnd;
    sentEnd = allEnd;
  }

  /** An answer came; {@code unacknowledged} is the oldest PSN that is not answered now. */
  void answered(int unacknowledged) {
    if (out && Psn.difference(unacknowledged, end) >= 0) {
      out = false;
      if (Psn.difference(unacknowledged, sentEnd) < 0) {
        next = Packet.NEWEST;
      }
    }
  }
}
