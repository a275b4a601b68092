// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;

/**
 * How many messages one end sends to a peer that may not be who it says, as QUIC limits them (RFC
 * 9000, section 8).
 *
 * <p>Until a message with the id of this end, or a packet for its queue pair, has come, a passive
 * end sends one message for each REQ, and {@value #UNPAID_MESSAGES} more. That is a second REP, for
 * a peer whose RTU was lost and who, like Linux, sends it again only for a REP that comes again; or
 * the REJ at the deadline, if there was none. Where a peer at the same address has proven itself
 * lately, it is {@value #KNOWN_UNPAID_MESSAGES}, ever less often: a second RTU may be lost, too. In
 * either case no more than {@value UnpaidMessages#MOST} of those are out to one address at once.
 * All messages are of one size: so to no address go more than twice the bytes that came from it,
 * and of many requests hardly more than came.
 */
final class AmplificationLimit {
  private static final int UNPAID_MESSAGES = 1;

  /** The same to an address that has proven itself lately. */
  private static final int KNOWN_UNPAID_MESSAGES = 4;

  private final UnpaidMessages ofAddresses;

  /** The IP address that messages go to. */
  private final Gid address;

  private final int mostUnpaid;
  private boolean proven;

  /** Requests of a peer that is not {@link #proven} which have not been answered. */
  private int unanswered;

  private int unpaid;

  private AmplificationLimit(
      UnpaidMessages ofAddresses, Gid address, int mostUnpaid, boolean proven) {
    this.ofAddresses = ofAddresses;
    this.address = address;
    this.mostUnpaid = mostUnpaid;
    this.proven = proven;
  }

  /** For an active end, which has chosen its peer: none. */
  static AmplificationLimit none(UnpaidMessages ofAddresses, Gid address) {
    return new AmplificationLimit(ofAddresses, address, 0, /* proven= */ true);
  }

  /**
   * For a passive end.
   *
   * @param known whether somebody at the address has proven itself lately
   */
  static AmplificationLimit of(UnpaidMessages ofAddresses, Gid address, boolean known) {
    return new AmplificationLimit(
        ofAddresses, address, known ? KNOWN_UNPAID_MESSAGES : UNPAID_MESSAGES, /* proven= */ false);
  }

  /** Whether the peer has shown that it takes what is sent to it. */
  boolean isProven() {
    return proven;
  }

  /** The peer has shown that; false if it had before. */
  boolean prove() {
    if (proven) {
      return false;
    }
    proven = true;
    giveBack();
    return true;
  }

  /** The peer has asked, so that one answer may go. */
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

  /** Whether nothing more may go until the peer asks again. */
  boolean isReached() {
    return !proven && unanswered == 0 && unpaid == mostUnpaid;
  }

  /** What went unpaid is had back by others at the address. */
  void giveBack() {
    ofAddresses.giveBack(address, unpaid);
    unpaid = 0;
  }
}
