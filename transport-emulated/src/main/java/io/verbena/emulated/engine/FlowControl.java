// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * Limits on the packets that an engine has in flight, so that buffers on the way and at the
 * receiver do not overflow.
 *
 * @param most the most packets in flight without an answer
 * @param readPart the most response packets of one READ request; a longer READ is requested in
 *     parts
 * @param adaptive whether a loss or a congestion notification reduces the packets in flight, probes
 *     find lost packets before the timeout, and acknowledgements may be delayed
 * @param lossless whether no packet is lost on the way; then waits for answers may end a little
 *     late, and cost no reading of the clock for each message
 */
public record FlowControl(int most, int readPart, boolean adaptive, boolean lossless) {
  /** The flow control of an RNIC, whose waits for answers end in time. */
  public static final FlowControl FIXED =
      new FlowControl(
          Requester.MAX_UNACKNOWLEDGED,
          Integer.MAX_VALUE,
          /* adaptive= */ false,
          /* lossless= */ false);

  private static final int LEAST = 4;
  private static final int PARTS = 4;

  /**
   * Returns the flow control for a network with buffers of limited size.
   *
   * @param buffered the number of packets that fit a receiver's buffer
   * @param lossless whether senders wait for room; if not, packets without room are lost, and READs
   *     are requested in smaller parts
   */
  public static FlowControl adaptive(int buffered, boolean lossless) {
    int most = Math.max(LEAST, Math.min(Requester.MAX_UNACKNOWLEDGED, buffered / 2));
    int part = lossless ? most : Math.max(1, most / PARTS);
    return new FlowControl(most, part, /* adaptive= */ true, lossless);
  }
}
