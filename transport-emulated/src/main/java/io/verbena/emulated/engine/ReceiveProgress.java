// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ReceiveWorkRequest;
import java.nio.ByteBuffer;

/** The receive that the present message has taken, and how far it is filled. */
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

  /** Begins a message anew in the receive that is held. */
  void rewind() {
    filled = 0;
  }

  /** Forgets the receive without completing it. */
  void drop() {
    held = false;
  }

  /** Bytes filled. */
  int filled() {
    return (int) filled;
  }

  boolean hasRoom(int length) {
    return filled + length <= receive.buffers().totalLength();
  }

  /** Appends bytes, for which there is room; false if the receive's memory may not be used. */
  boolean append(ByteBuffer bytes, int at, int length) {
    Grant grant = Segments.scatter(host, receive.buffers(), filled, bytes, at, length);
    filled += length;
    return grant == Grant.GRANTED;
  }

  /** Completes the receive; arguments as for {@link Host#receiveDone}. */
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
   * Completes as flushed what is held and, unless the queue is shared, all that is posted; a shared
   * one keeps its receives.
   */
  void flush(boolean shared) {
    fail(CompletionStatus.WR_FLUSH_ERR);
    while (!shared && take()) {
      fail(CompletionStatus.WR_FLUSH_ERR);
    }
  }
}
