// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * Handles faulty FPDUs of the peer: fails the receive that the message holds, or else raises an
 * event, and ends the stream. Each method that refuses an FPDU returns false.
 */
final class InboundFaults {
  private final EngineHost host;
  private final InboundMessage message;
  private final FpduHeader header;
  private final FpduReader.Owner owner;

  /**
   * Creates the handler of one stream.
   *
   * @param header the header of the FPDU that is being checked
   */
  InboundFaults(
      EngineHost host, InboundMessage message, FpduHeader header, FpduReader.Owner owner) {
    this.host = host;
    this.message = message;
    this.header = header;
    this.owner = owner;
  }

  /**
   * Returns whether this is a message of one FPDU, with the required payload length and number;
   * otherwise refuses the FPDU.
   */
  boolean isMessage(int length, int number) {
    if (header.sequence() != number) {
      return invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    if (header.messageOffset() != 0) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (header.payloadLength() > length) {
      return invalid(TerminateCause.UNTAGGED_TOO_LONG);
    }
    // DDP accepts a shorter message, and RDMAP has no code for the missing bytes.
    boolean isWhole = header.payloadLength() == length && header.isLast();
    return isWhole || invalid(TerminateCause.STREAM_CATASTROPHE);
  }

  /** Refuses an FPDU as an invalid request. */
  boolean invalid(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_INV_REQ_ERR, AsyncEvent.Type.QP_REQ_ERR, header);
  }

  /** Refuses an FPDU as a denied access. */
  boolean denied(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_ACCESS_ERR, AsyncEvent.Type.QP_ACCESS_ERR, header);
  }

  /**
   * Refuses an FPDU.
   *
   * @param fault the FPDU to report to the peer, or null
   */
  boolean refuse(
      TerminateCause cause,
      CompletionStatus status,
      AsyncEvent.Type event,
      @Nullable FpduHeader fault) {
    if (!message.fail(status)) {
      host.raise(event);
    }
    owner.failed(cause, fault);
    return false;
  }
}
