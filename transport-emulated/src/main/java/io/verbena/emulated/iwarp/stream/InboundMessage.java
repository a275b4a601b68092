// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;

/** The peer's current message, and the receive that it has taken. */
final class InboundMessage {
  private final EngineHost host;
  private final ReceiveWorkRequest receive;
  private final BufferCursor cursor = new BufferCursor();
  private boolean held;
  private int filled;

  /** The number of the current or next message (RFC 5041, section 5.3). */
  private int sequence = 1;

  InboundMessage(EngineHost host, int maxScatterGather) {
    this.host = host;
    receive = new ReceiveWorkRequest(maxScatterGather);
  }

  /** Begins a stream. */
  void start() {
    sequence = 1;
    held = false;
  }

  int sequence() {
    return sequence;
  }

  /** Returns the number of bytes of the message that have come. */
  int filled() {
    return held ? filled : 0;
  }

  /** Takes a receive unless one is held; returns false if there is none. */
  boolean take() {
    if (!held) {
      held = host.takeReceive(receive);
      filled = 0;
      cursor.rewind();
    }
    return held;
  }

  /**
   * Returns whether {@code length} more bytes fit. A completion counts bytes by an int, and buffers
   * that overlap may be longer.
   */
  boolean hasRoom(int length) {
    return filled + (long) length <= Math.min(receive.buffers().totalLength(), Integer.MAX_VALUE);
  }

  /** Shows the memory for the next bytes, as far as it is contiguous. */
  boolean show(Placement placement, int most, MemoryView view) {
    return cursor.show(placement, Use.RECEIVE, receive.buffers(), most, view);
  }

  void placed(int bytes) {
    cursor.advance(bytes);
    filled += bytes;
  }

  /** Completes the receive with the last segment of the message. */
  void complete(FpduHeader last) {
    held = false;
    sequence++;
    boolean invalidates = last.opcode().invalidates();
    host.receiveDone(
        receive.id(),
        CompletionOpcode.RECV,
        filled,
        invalidates ? last.tag() : 0,
        0,
        invalidates ? WorkCompletion.WITH_INV : 0,
        last.opcode().solicits());
  }

  /**
   * Completes the receive, which is empty, with immediate data behind a WRITE.
   *
   * @param length the length of the WRITE
   */
  void complete(int immediate, int length, boolean solicits) {
    held = false;
    sequence++;
    host.receiveDone(
        receive.id(),
        CompletionOpcode.RECV_RDMA_WITH_IMM,
        length,
        immediate,
        0,
        WorkCompletion.WITH_IMM,
        solicits);
  }

  /** Completes the receive, if one is held, with an error; returns false if none is. */
  boolean fail(CompletionStatus status) {
    if (!held) {
      return false;
    }
    held = false;
    host.receiveFailed(receive.id(), status);
    return true;
  }

  /** Drops the receive without completing it. */
  void drop() {
    held = false;
  }

  /** Completes the held receive as flushed and, unless the queue is shared, all posted ones. */
  void flush(boolean shared) {
    fail(CompletionStatus.WR_FLUSH_ERR);
    while (!shared && take()) {
      fail(CompletionStatus.WR_FLUSH_ERR);
    }
  }
}
