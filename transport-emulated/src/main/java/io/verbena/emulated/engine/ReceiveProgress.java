// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ReceiveWorkRequest;
import java.nio.ByteBuffer;

/** The receive that the current message has taken, and the number of bytes filled. */
final class ReceiveProgress {
  private final Host host;
  private final ReceiveWorkRequest receive;
  private boolean held;
  private long filled;

  ReceiveProgress(Host host, int maxScatterGather) {
    this.host = host;
    receive = new ReceiveWorkRequest(maxScatterGather);
  }

  /** Takes a receive unless one is held; false if there is none. */
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

  /** Begins a message anew in the receive that it holds. */
  void rewind() {
    filled = 0;
  }

  /** Drops the receive without completing it. */
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

  /** Appends bytes, for which there is room; false if the receive's memory may not be used. */
  boolean append(ByteBuffer bytes, int at, int length) {
    AccessResult outcome =
        Segments.scatterReceive(host, receive.buffers(), filled, bytes, at, length);
    filled += length;
    return outcome == AccessResult.GRANTED;
  }

  /** Completes the receive; the arguments are those of {@link Host#receiveDone}. */
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

  /** Completes the receive, if one is held, with an error; false if none is. */
  boolean fail(CompletionStatus status) {
    if (!held) {
      return false;
    }
    held = false;
    host.receiveFailed(receive.id(), status);
    return true;
  }

  /**
   * Completes the held receive as flushed and, unless the queue is shared, all posted ones; a
   * shared queue keeps its receives.
   */
  void flush(boolean shared) {
    fail(CompletionStatus.WR_FLUSH_ERR);
    while (!shared && take()) {
      fail(CompletionStatus.WR_FLUSH_ERR);
    }
  }
}
