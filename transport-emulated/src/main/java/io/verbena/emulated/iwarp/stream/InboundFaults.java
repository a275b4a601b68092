// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.Host;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import org.jspecify.annotations.Nullable;

/**
 * What an FPDU that is wrong leads to at this end: the receive that its message holds fails, or
 * there is an event; and the stream ends. Each method that refuses answers false.
 */
final class InboundFaults {
  private final Host host;
  private final InboundMessage message;
  private final FpduHeader header;
  private final Inbound.Owner owner;

  /**
   * Faults of one stream.
   *
   * @param header of the FPDU that is looked at
   */
  InboundFaults(Host host, InboundMessage message, FpduHeader header, Inbound.Owner owner) {
    this.host = host;
    this.message = message;
    this.header = header;
    this.owner = owner;
  }

  /** Whether it is a message of one FPDU, with a payload and a number that it must have. */
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
    // DDP takes what is shorter, and RDMAP has no code for what it then misses.
    boolean isWhole = header.payloadLength() == length && header.isLast();
    return isWhole || invalid(TerminateCause.STREAM_CATASTROPHE);
  }

  /** What the peer does is wrong, whatever the memory. */
  boolean invalid(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_INV_REQ_ERR, AsyncEvent.Type.QP_REQ_ERR, header);
  }

  /** The key does not give what the peer does. */
  boolean denied(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_ACCESS_ERR, AsyncEvent.Type.QP_ACCESS_ERR, header);
  }

  /**
   * Something is wrong.
   *
   * @param fault the FPDU that the peer is told of, or null
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
