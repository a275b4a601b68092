package io.verbena.rsocket;

import io.rsocket.frame.FrameLengthCodec;
import io.verbena.RdmaTransport;

/** How long a frame may be, and how much may wait. */
final class FrameLimits {
  /** Bytes that may wait on a connection, if nobody says otherwise: some of the longest frames. */
  static final long SEND_QUEUE = 64L << 20;

  private FrameLimits() {}

  /** No longer than a message of the transport, nor than what a frame says of its own parts. */
  static int longestFrame(RdmaTransport transport) {
    return Math.min(transport.options().maxMessageSize(), FrameLengthCodec.FRAME_LENGTH_MASK);
  }

  static long checkSendQueue(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("sendQueueLimit: " + bytes + " (expected: > 0)");
    }
    return bytes;
  }
}
