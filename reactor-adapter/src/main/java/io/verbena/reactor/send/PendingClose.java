// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

/**
 * The CLOSE of this end. It is sent once, and a second time with STOP if this end begins to drop
 * messages after the first. Only on the loop.
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

  /** Returns whether it was put into a frame. */
  boolean isSent() {
    return sent;
  }

  /** Returns whether it is to be put into a frame, once nothing else is left to send. */
  boolean isDue() {
    return wanted && (!sent || stopSent != stopWanted);
  }

  /** Records that it is put into a frame; returns whether it says STOP. */
  boolean send() {
    sent = true;
    stopSent = stopWanted;
    return stopWanted;
  }
}
