// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.Gid;

/**
 * Limits the messages that one end sends to a peer whose address may be forged, as QUIC does (RFC
 * 9000, section 8).
 *
 * <p>A peer is proven once a message with the id of this end, or a packet for its queue pair, has
 * arrived. Before that, a passive end sends one message for each REQ, and {@value #UNPAID_MESSAGES}
 * additional one. The additional message is a second REP, for a peer whose RTU was lost and which,
 * like Linux, repeats its RTU only after a repeated REP; or else the REJ at the deadline. If a peer
 * at the same address has recently been proven, up to {@value #KNOWN_UNPAID_MESSAGES} additional
 * messages are sent, at growing intervals, since a second RTU may be lost, too. At most {@value
 * AmplificationAllowance#MOST} additional messages per address are outstanding at once. All
 * messages have the same size. So an address that has not recently been proven gets at most twice
 * the bytes that came from it, and with many requests hardly more bytes than came.
 */
final class AmplificationLimit {
  private static final int UNPAID_MESSAGES = 1;

  /** The number of additional messages to an address that has recently been proven. */
  private static final int KNOWN_UNPAID_MESSAGES = 4;

  private final AmplificationAllowance ofAddresses;

  /** The IP address to which messages are sent. */
  private final Gid address;

  private final int mostUnpaid;
  private boolean proven;

  /** The number of requests of an unproven peer that were not answered yet. */
  private int unanswered;

  private int unpaid;

  private AmplificationLimit(
      AmplificationAllowance ofAddresses, Gid address, int mostUnpaid, boolean proven) {
    this.ofAddresses = ofAddresses;
    this.address = address;
    this.mostUnpaid = mostUnpaid;
    this.proven = proven;
  }

  /** Returns an object without a limit, for an active end, which has chosen its peer. */
  static AmplificationLimit none(AmplificationAllowance ofAddresses, Gid address) {
    return new AmplificationLimit(ofAddresses, address, 0, /* proven= */ true);
  }

  /**
   * Returns the limit of a passive end.
   *
   * @param known whether a peer at the address has recently been proven
   */
  static AmplificationLimit of(AmplificationAllowance ofAddresses, Gid address, boolean known) {
    return new AmplificationLimit(
        ofAddresses, address, known ? KNOWN_UNPAID_MESSAGES : UNPAID_MESSAGES, /* proven= */ false);
  }

  /** Returns whether the peer has shown that it receives the messages sent to it. */
  boolean isProven() {
    return proven;
  }

  /** Notes that the peer is proven; returns false if it was before. */
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

  /** Counts a message to the peer; returns false if it must not be sent. */
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

  /** Returns whether no more messages may be sent until the peer repeats its request. */
  boolean isReached() {
    return !proven && unanswered == 0 && unpaid == mostUnpaid;
  }

  /** Returns the additional messages to the allowance of the address. */
  void giveBack() {
    ofAddresses.giveBack(address, unpaid);
    unpaid = 0;
  }
}
