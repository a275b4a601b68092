// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ReceiveWorkRequest;
import java.nio.ByteBuffer;

/** The receive that the current message has taken, and the number of bytes filled. */
final class ReceiveProgress {
  private final EngineHost host;
  private final ReceiveWorkRequest receive;
  private boolean held;
  private long filled;

  ReceiveProgress(EngineHost host, int maxScatterGather) {
    this.host = host;
    receive = new ReceiveWorkRequest(maxScatterGather);
  }

  /** Takes a receive unless one is held; returns false if there is none. */
  boolean take() {
    if (!held) {
      held = host.takeReceive(receive);
      filled = 0;
    }
    return held;
  }

  boolean isHeld() {
    return held;
  }

  /** Starts a message at the beginning of the held receive. */
  void rewind() {
    filled = 0;
  }

  /** Drops the held receive without completing it. */
  void drop() {
    held = false;
  }

  /** Returns the number of bytes filled. */
  int filled() {
    return (int) filled;
  }

  boolean hasRoom(int length) {
    return filled + length <= receive.buffers().totalLength();
  }

  /**
   * Appends bytes, for which the caller has checked the room; returns false if the access to the
   * receive's memory is refused.
   */
  boolean append(ByteBuffer bytes, int at, int length) {
    AccessResult outcome =
        Segments.scatterReceive(host, receive.buffers(), filled, bytes, at, length);
    filled += length;
    return outcome == AccessResult.GRANTED;
  }

  /** Completes the held receive; the arguments are those of {@link EngineHost#receiveDone}. */
  void complete(
      CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int sourceQueuePair,
      int flags,
      boolean solicited) {
    held = false;
    host.receiveDone(
        receive.id(), opcode, byteLength, immediate, sourceQueuePair, flags, solicited);
  }

  /** Completes the held receive with an error; returns false if none is held. */
  boolean fail(CompletionStatus status) {
    if (!held) {
      return false;
    }
    held = false;
    host.receiveFailed(receive.id(), status);
    return true;
  }

  /** Completes the held receive as flushed, and all posted receives unless the queue is shared. */
  void flush(boolean shared) {
    fail(CompletionStatus.WR_FLUSH_ERR);
    while (!shared && take()) {
      fail(CompletionStatus.WR_FLUSH_ERR);
    }
  }
}
