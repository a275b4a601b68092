// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.ImmediateData;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import java.nio.ByteBuffer;

/**
 * SENDs and immediate data of the peer. Each takes a receive: immediate data shares the queue of
 * SENDs (RFC 7306, section 6.3).
 */
final class InboundSends {
  private final EngineHost host;
  private final Placement placement;
  private final InboundMessage message;
  private final FpduHeader header;
  private final InboundFaults faults;

  InboundSends(
      EngineHost host,
      Placement placement,
      InboundMessage message,
      FpduHeader header,
      InboundFaults faults) {
    this.host = host;
    this.placement = placement;
    this.message = message;
    this.header = header;
    this.faults = faults;
  }

  /** Returns whether {@code length} more bytes are accepted. */
  boolean begin(int length) {
    if (header.sequence() != message.sequence()) {
      return faults.invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    if (header.messageOffset() != message.filled()) {
      return faults.invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (!message.take()) {
      return faults.invalid(TerminateCause.UNTAGGED_NO_BUFFER);
    }
    return message.hasRoom(length)
        || faults.refuse(
            TerminateCause.UNTAGGED_TOO_LONG,
            CompletionStatus.LOC_LEN_ERR,
            AsyncEvent.Type.QP_REQ_ERR,
            header);
  }

  /** Handles the last segment; returns false if the stream ends. */
  boolean end() {
    if (header.opcode().invalidates() && !host.invalidateRemotely(header.tag())) {
      return faults.invalid(causeOfRefusal(header.tag()));
    }
    message.complete(header);
    return true;
  }

  /**
   * Returns the cause for a tag that cannot be invalidated: chooses one of two codes (RFC 5040,
   * section 4.8), like the drivers cxgb4 and irdma.
   */
  private TerminateCause causeOfRefusal(int tag) {
    return placement.denial(Use.READ, tag, 0, 1) == AccessDenial.TAG_OF_ANOTHER_STREAM
        ? TerminateCause.REMOTE_CANNOT_INVALIDATE
        : TerminateCause.CANNOT_INVALIDATE;
  }

  /** Ends the stream: the memory for the message is gone. */
  void memoryGone() {
    faults.refuse(
        TerminateCause.LOCAL, CompletionStatus.LOC_PROT_ERR, AsyncEvent.Type.QP_FATAL, null);
  }

  /**
   * Takes immediate data; returns false if the stream ends.
   *
   * @param writes the WRITEs; the completion reports the last of them
   */
  boolean immediate(ByteBuffer bytes, int at, InboundWrites writes) {
    if (!faults.isMessage(FpduLayout.IMMEDIATE_LENGTH, message.sequence()) || !begin(0)) {
      return false;
    }
    message.complete(
        ImmediateData.parse(bytes, at), writes.takeLength(), header.opcode().solicits());
    return true;
  }
}
