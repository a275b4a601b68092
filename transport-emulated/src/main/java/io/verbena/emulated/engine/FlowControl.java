// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * How much an engine may have under way, so that buffers on the way and at the receiver do not
 * overflow.
 *
 * @param most packets that may be out without an answer
 * @param readPart packets that one READ request asks for at the most; a longer READ is asked for
 *     part by part
 * @param adaptive whether fewer packets may be out after a loss or a congestion notification, lost
 *     packets are looked for before the timeout, and acknowledgements may be held back a while
 */
public record FlowControl(int most, int readPart, boolean adaptive) {
  /** As an RNIC on a lossless network has it. */
  public static final FlowControl FIXED =
      new FlowControl(Requester.MAX_UNACKNOWLEDGED, Integer.MAX_VALUE, /* adaptive= */ false);

  private static final int LEAST = 4;
  private static final int PARTS = 4;

  /**
   * For a network that loses packets where buffers are full.
   *
   * @param buffered packets that a receiver's buffer holds
   */
  public static FlowControl adaptive(int buffered) {
    int most = Math.max(LEAST, Math.min(Requester.MAX_UNACKNOWLEDGED, buffered / 2));
    return new FlowControl(most, Math.max(1, most / PARTS), /* adaptive= */ true);
  }
}
