// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * The credits of three kinds, and the id of the last long message that was read, which the next
 * frame returns to the peer. The receiving parts of a connection write it, the sender announces it.
 */
public final class CreditReturns {
  private final FrameCredits frames;
  private final ReceiveCredits messages;
  private final ReceiveCredits immediates;
  private int doneId;
  private boolean donePending;

  /**
   * @param first the first grant of frames
   * @param receiveDepth the most frames that the peer may have a grant of
   * @param window the first grant of messages, and of immediates
   */
  public CreditReturns(int first, int receiveDepth, int window) {
    frames = new FrameCredits(first, receiveDepth);
    messages = new ReceiveCredits(window, Math.max(1, window / 4));
    immediates = new ReceiveCredits(window, Math.max(1, window / 4));
  }

  /** Credits of receives. */
  public FrameCredits frames() {
    return frames;
  }

  /** Credits of messages. */
  public ReceiveCredits messages() {
    return messages;
  }

  /** Credits of immediates. */
  public ReceiveCredits immediates() {
    return immediates;
  }

  /** All long messages up to this one were read. */
  public void done(int id) {
    doneId = id;
    donePending = true;
  }

  /** Returns whether the peer has yet to learn of a message that was read. */
  public boolean isDonePending() {
    return donePending;
  }

  /** Returns the id of the last message that was read, for the next frame. */
  public int takeDone() {
    donePending = false;
    return doneId;
  }

  /** Returns whether anything but receives is worth a frame of its own. */
  public boolean isDue() {
    return messages.due() || immediates.due() || donePending;
  }
}
