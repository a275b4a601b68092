// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * The credits of three kinds for the peer, and the id of the last long message that was read: the
 * next frame returns them. The receiving parts of a connection update them, the sender announces
 * them.
 */
public final class OwedCredits {
  private final ReceiveFrameCredits frames;
  private final ReceiveCredits messages;
  private final ReceiveCredits immediates;
  private int doneId;
  private boolean donePending;

  /**
   * @param first the first grant of frames
   * @param receiveDepth the most frame credits that the peer may have
   * @param window the first grant of messages, and of immediates
   */
  public OwedCredits(int first, int receiveDepth, int window) {
    frames = new ReceiveFrameCredits(first, receiveDepth);
    messages = new ReceiveCredits(window, Math.max(1, window / 4));
    immediates = new ReceiveCredits(window, Math.max(1, window / 4));
  }

  /** Returns the credits of frames. */
  public ReceiveFrameCredits frames() {
    return frames;
  }

  /** Returns the credits of messages. */
  public ReceiveCredits messages() {
    return messages;
  }

  /** Returns the credits of immediates. */
  public ReceiveCredits immediates() {
    return immediates;
  }

  /** Records that all long messages up to this id were read. */
  public void done(int id) {
    doneId = id;
    donePending = true;
  }

  /** Returns whether a DONE is to be sent. */
  public boolean isDonePending() {
    return donePending;
  }

  /** Returns the id of the last long message that was read, for the DONE in the next frame. */
  public int takeDone() {
    donePending = false;
    return doneId;
  }

  /** Returns whether anything but credits of frames is worth a frame of its own. */
  public boolean isDue() {
    return messages.due() || immediates.due() || donePending;
  }
}
