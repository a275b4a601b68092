// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

/**
 * The CLOSE that an end owes its peer. It is sent once, and a second time with STOP where the end
 * drops what comes only since the first.
 */
final class PendingClose {
  private boolean wanted;
  private boolean sent;
  private boolean stopWanted;
  private boolean stopSent;

  /** Asks for the CLOSE; returns whether that is new. */
  boolean ask() {
    boolean news = !wanted;
    wanted = true;
    return news;
  }

  /** Asks for STOP in the CLOSE too; returns whether that is new. */
  boolean askToStop() {
    boolean news = !stopWanted;
    stopWanted = true;
    return news;
  }

  boolean isWanted() {
    return wanted;
  }

  /** Returns whether it is in a frame. */
  boolean isSent() {
    return sent;
  }

  /** Returns whether it is to be put into a frame, once nothing else is left to send. */
  boolean isDue() {
    return wanted && (!sent || stopSent != stopWanted);
  }

  /** It is put into a frame now; returns whether it says STOP. */
  boolean send() {
    sent = true;
    stopSent = stopWanted;
    return stopWanted;
  }
}
