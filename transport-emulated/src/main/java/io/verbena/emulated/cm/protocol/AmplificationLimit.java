// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;

/**
 * Limits the messages that one end sends to a peer whose address may be forged, as QUIC does (RFC
 * 9000, section 8).
 *
 * <p>Until a message with the id of this end, or a packet for its queue pair, has come, a passive
 * end sends one message for each REQ, and {@value #UNPAID_MESSAGES} more. That one is a second REP,
 * for a peer whose RTU was lost and which, like Linux, repeats it only for a repeated REP; or the
 * REJ at the deadline, if there was no second REP. If a peer at the same address has proven itself
 * recently, {@value #KNOWN_UNPAID_MESSAGES} more are sent, at growing intervals: a second RTU may
 * be lost, too. In either case at most {@value UnpaidMessages#MOST} of those are outstanding to one
 * address at once. All messages have the same size: so no address gets more than twice the bytes
 * that came from it, and for many requests hardly more than came.
 */
final class AmplificationLimit {
  private static final int UNPAID_MESSAGES = 1;

  /** The number of messages beyond the answers for an address that has proven itself recently. */
  private static final int KNOWN_UNPAID_MESSAGES = 4;

  private final UnpaidMessages ofAddresses;

  /** The IP address that messages go to. */
  private final Gid address;

  private final int mostUnpaid;
  private boolean proven;

  /** Requests of a peer that is not {@link #proven} that were not answered yet. */
  private int unanswered;

  private int unpaid;

  private AmplificationLimit(
      UnpaidMessages ofAddresses, Gid address, int mostUnpaid, boolean proven) {
    this.ofAddresses = ofAddresses;
    this.address = address;
    this.mostUnpaid = mostUnpaid;
    this.proven = proven;
  }

  /** Returns no limit, for an active end, which has chosen its peer. */
  static AmplificationLimit none(UnpaidMessages ofAddresses, Gid address) {
    return new AmplificationLimit(ofAddresses, address, 0, /* proven= */ true);
  }

  /**
   * Returns the limit of a passive end.
   *
   * @param known whether a peer at the address has proven itself recently
   */
  static AmplificationLimit of(UnpaidMessages ofAddresses, Gid address, boolean known) {
    return new AmplificationLimit(
        ofAddresses, address, known ? KNOWN_UNPAID_MESSAGES : UNPAID_MESSAGES, /* proven= */ false);
  }

  /** Returns whether the peer has shown that it takes the messages sent to it. */
  boolean isProven() {
    return proven;
  }

  /** Notes that the peer has shown that; false if it had before. */
  boolean prove() {
    if (proven) {
      return false;
    }
    proven = true;
    giveBack();
    return true;
  }

  /** Notes a request of the peer, which allows one answer. */
  void asked() {
    if (!proven) {
      unanswered++;
    }
  }

  /** Takes one message to the peer; false if none may go. */
  boolean take() {
    if (proven) {
      return true;
    }
    if (unanswered > 0) {
      unanswered--;
      return true;
    }
    if (unpaid < mostUnpaid && ofAddresses.take(address)) {
      unpaid++;
      return true;
    }
    return false;
  }

  /** Returns whether nothing more may be sent until the peer asks again. */
  boolean isReached() {
    return !proven && unanswered == 0 && unpaid == mostUnpaid;
  }

  /** Returns the messages beyond the answers to the allowance of the address. */
  void giveBack() {
    ofAddresses.giveBack(address, unpaid);
    unpaid = 0;
  }
}
