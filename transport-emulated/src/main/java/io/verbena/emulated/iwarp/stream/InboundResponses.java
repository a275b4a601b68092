// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.AccessResult;
import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.emulated.engine.Segments;
import io.verbena.emulated.iwarp.frame.AtomicResponse;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The peer's answers to READs and atomics of this end, which come in the order of the requests, and
 * go to the buffers of the oldest request.
 */
final class InboundResponses {
  private final EngineHost host;
  private final Placement placement;
  private final Outbound outbound;
  private final FpduHeader header;
  private final InboundFaults faults;
  private final BufferCursor sink = new BufferCursor();
  private final ByteBuffer original =
      ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());

  /** The bytes of the current answer to a READ that have come. */
  private long came;

  /** The number of answers to atomics. */
  private int number;

  InboundResponses(
      EngineHost host,
      Placement placement,
      Outbound outbound,
      FpduHeader header,
      InboundFaults faults) {
    this.host = host;
    this.placement = placement;
    this.outbound = outbound;
    this.header = header;
    this.faults = faults;
  }

  /** Begins a stream. */
  void start() {
    came = 0;
    number = 0;
  }

  // ---- READs

  /** Returns whether {@code length} more bytes are accepted. */
  boolean begin(int length) {
    SendWorkRequest request = outbound.oldestAsked();
    if (request == null || request.opcode() != SendOpcode.RDMA_READ) {
      return faults.invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if (came == 0) {
      sink.rewind();
    }
    long end = came + length;
    long due = request.buffers().totalLength();
    boolean fits = end < due ? !header.isLast() : end == due && header.isLast();
    boolean isItsOwn = header.tag() == outbound.oldestNumber();
    if (isItsOwn && header.taggedOffset() == came && fits) {
      return true;
    }
    outbound.failAsked(CompletionStatus.BAD_RESP_ERR);
    return faults.invalid(
        isItsOwn ? TerminateCause.TAGGED_BOUNDS : TerminateCause.TAGGED_INVALID_TAG);
  }

  /** Shows the memory for the next bytes, as far as it is contiguous. */
  boolean show(int most, MemoryView view) {
    SendWorkRequest request = outbound.oldestAsked();
    return request != null && sink.show(placement, Use.SINK, request.buffers(), most, view);
  }

  void placed(int length) {
    sink.advance(length);
    came += length;
  }

  /** Handles the last segment. */
  boolean end() {
    came = 0;
    outbound.answered();
    return true;
  }

  /** Ends the stream: the memory for the answer is gone. */
  void memoryGone() {
    outbound.failAsked(CompletionStatus.LOC_PROT_ERR);
    faults.invalid(TerminateCause.LOCAL);
  }

  // ---- atomics

  /** Takes an answer; returns false if the stream ends. */
  boolean atomic(ByteBuffer bytes, int at) {
    if (!faults.isMessage(FpduLayout.ATOMIC_RESPONSE_LENGTH, ++number)) {
      return false;
    }
    SendWorkRequest request = outbound.oldestAsked();
    if (request == null || !RequestOpcodes.isAtomic(request.opcode())) {
      return faults.invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if (AtomicResponse.identifier(bytes, at) != outbound.oldestNumber()) {
      outbound.failAsked(CompletionStatus.BAD_RESP_ERR);
      return faults.invalid(TerminateCause.UNSPECIFIED_OPERATION);
    }
    original.putLong(0, AtomicResponse.original(bytes, at));
    AccessResult placed = Segments.scatter(host, request.buffers(), 0, original, 0, Long.BYTES);
    if (placed != AccessResult.GRANTED) {
      memoryGone();
      return false;
    }
    outbound.answered();
    return true;
  }
}
