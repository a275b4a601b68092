// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.emulated.engine.SendRing;
import io.verbena.emulated.iwarp.frame.AtomicRequest;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.ImmediateData;
import io.verbena.emulated.iwarp.frame.RdmapOpcode;
import io.verbena.emulated.iwarp.frame.ReadRequest;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Turns requests into FPDUs in the order of the send queue.
 *
 * <pre>
 *  requests   freed .. | head ........ next .. | .. posted
 *                        oldest        to be cut
 *                        not done      into FPDUs
 *  a SEND or WRITE is done when the channel has taken it, a READ or atomic when it is answered
 *  (RFC 5040, section 5.5: a completion says that the buffer is free again)
 * </pre>
 */
final class Outbound {
  private static final int FEW = 4;
  private static final long NONE = -1;

  /** The most payload of an FPDU; a multiple of 8. */
  static final int MOST_PAYLOAD = FpduLayout.MAX_PAYLOAD & -8;

  private final SendRing ring;
  private final EngineHost host;
  private final Placement placement;
  private final FpduWriter writer;
  private final long maxMessage;
  private final FpduHeader header = new FpduHeader();
  private final ReadRequest readRequest = new ReadRequest();
  private final AtomicRequest atomicRequest = new AtomicRequest();
  private final BufferCursor cursor = new BufferCursor();

  /**
   * The end of each request in the stream, by the request's position; the length is a power of two.
   */
  private long[] ends = new long[FEW];

  private long head;
  private long next;

  /** Bytes of the message of {@link #next} that are in FPDUs already. */
  private long cut;

  private boolean begun;

  /** For a WRITE with immediate data: true if only the immediate data is missing. */
  private boolean written;

  private boolean extensions;
  private int sendNumber;

  /** The number of the last READ or atomic: they share a queue. */
  private int readNumber;

  /** The number of READs and atomics that are requested and not answered. */
  private int reads;

  private int depth;
  private long failedPosition = NONE;
  private CompletionStatus failedStatus = CompletionStatus.SUCCESS;

  Outbound(
      SendRing ring, EngineHost host, Placement placement, FpduWriter writer, long maxMessage) {
    this.ring = ring;
    this.host = host;
    this.placement = placement;
    this.writer = writer;
    this.maxMessage = maxMessage;
  }

  /** Begins a stream. */
  void start(StreamTerms terms) {
    extensions = terms.extensions();
    depth = terms.initiatorDepth();
    sendNumber = 0;
    readNumber = 0;
    startOver();
  }

  /** Drops all requests. */
  void clear() {
    head = ring.posted();
    startOver();
  }

  private void startOver() {
    next = head;
    cut = 0;
    begun = false;
    reads = 0;
    failedPosition = NONE;
  }

  /** Completes all unfinished requests as flushed. */
  void flush() {
    for (long end = ring.posted(); head < end; ) {
      failHead(CompletionStatus.WR_FLUSH_ERR);
    }
    startOver();
  }

  private void failHead(CompletionStatus status) {
    SendWorkRequest request = ring.request(head);
    host.sendFailed(head++, request, status);
  }

  /** Adds an empty WRITE, which makes the peer ready (RFC 6581, section 9). */
  void makeReady() {
    writer.begin(header.tagged(RdmapOpcode.WRITE, true, 0, 0, 0));
    writer.end(header);
  }

  /** Adds a TERMINATE, which tells the peer why the stream ends. */
  void terminate(TerminateCause cause, @Nullable FpduHeader fault) {
    ByteBuffer payload = ByteBuffer.allocate(Terminate.MAX_LENGTH);
    int length = Terminate.write(cause, fault, payload, 0);
    writer.begin(header.untagged(RdmapOpcode.TERMINATE, true, 0, 1, 0, length));
    writer.payload(payload, 0, length);
    writer.end(header);
  }

  // ---- requests

  /**
   * Adds an FPDU of the next request, or executes a local request; returns false if the request
   * must wait.
   */
  boolean step() {
    if (next == failedPosition || next >= ring.posted()) {
      return false;
    }
    SendWorkRequest request = ring.request(next);
    if (!begun) {
      if (mustWait(request)) {
        return false;
      }
      CompletionStatus status = check(request);
      if (status != CompletionStatus.SUCCESS) {
        return failAtNext(status);
      }
      begun = true;
      written = false;
      cut = 0;
      cursor.rewind();
    }
    return switch (request.opcode()) {
      case LOCAL_INV ->
          host.invalidateLocally(request.remoteKey())
              ? done()
              : failAtNext(CompletionStatus.LOC_QP_OP_ERR);
      case BIND_MW -> host.bind(request) ? done() : failAtNext(CompletionStatus.MW_BIND_ERR);
      case RDMA_READ -> {
        addReadRequest(request);
        reads++;
        yield done();
      }
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> {
        addAtomicRequest(request);
        reads++;
        yield done();
      }
      case RDMA_WRITE_WITH_IMM -> written ? addImmediate(request) : addSegment(request);
      default -> addSegment(request);
    };
  }

  private boolean mustWait(SendWorkRequest request) {
    if ((request.flags() & SendWorkRequest.FENCE) != 0 && reads > 0) {
      return true;
    }
    return switch (request.opcode()) {
      case LOCAL_INV, BIND_MW -> {
        // Earlier requests may still have to be read out of the region whose key is to be
        // invalidated.
        completeDone();
        yield head != next;
      }
      case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> depth > 0 && reads >= depth;
      default -> false;
    };
  }

  private CompletionStatus check(SendWorkRequest request) {
    SendOpcode operation = request.opcode();
    if (RequestOpcodes.isLocal(operation)) {
      return CompletionStatus.SUCCESS;
    }
    if (!isKnown(operation)) {
      return CompletionStatus.LOC_QP_OP_ERR;
    }
    long length = length(request);
    if (RequestOpcodes.isAtomic(operation) ? length != Long.BYTES : length > maxMessage) {
      return CompletionStatus.LOC_LEN_ERR;
    }
    boolean isAsked = RequestOpcodes.isReadOrAtomic(operation);
    if (isAsked && depth == 0) {
      return CompletionStatus.LOC_QP_OP_ERR;
    }
    if (request.inlineData() == null) {
      ScatterGatherList buffers = request.buffers();
      Use use = isAsked ? Use.SINK : Use.SEND;
      for (int i = 0; i < buffers.size(); i++) {
        int part = buffers.length(i);
        if (part > 0 && !placement.permits(use, buffers.lkey(i), buffers.address(i), part)) {
          return CompletionStatus.LOC_PROT_ERR;
        }
      }
    }
    return CompletionStatus.SUCCESS;
  }

  /**
   * Returns whether the stream has a message for an operation. In RFC 7306 immediate data is a
   * message that takes a receive of its own: a SEND with immediate data would take two.
   */
  private boolean isKnown(SendOpcode operation) {
    return switch (operation) {
      case SEND_WITH_IMM -> false;
      case RDMA_WRITE_WITH_IMM, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> extensions;
      default -> true;
    };
  }

  private static long length(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    return inline == null ? request.buffers().totalLength() : inline.remaining();
  }

  /**
   * Adds a READ request. The sink's tag is the READ's number, which only this end has to
   * understand.
   */
  private void addReadRequest(SendWorkRequest request) {
    readNumber++;
    writer.begin(
        header.untagged(
            RdmapOpcode.READ_REQUEST, true, 0, readNumber, 0, FpduLayout.READ_REQUEST_LENGTH));
    int at = writer.own().position();
    readRequest
        .of(
            readNumber,
            0,
            request.buffers().totalLength(),
            request.remoteKey(),
            request.remoteAddress())
        .write(writer.own());
    writer.payloadFrom(at);
    writer.end(header);
  }

  /**
   * Adds an atomic request. Its identifier is its number, which only this end has to understand.
   */
  private void addAtomicRequest(SendWorkRequest request) {
    readNumber++;
    writer.begin(
        header.untagged(
            RdmapOpcode.ATOMIC_REQUEST, true, 0, readNumber, 0, FpduLayout.ATOMIC_REQUEST_LENGTH));
    int at = writer.own().position();
    int key = request.remoteKey();
    long address = request.remoteAddress();
    if (request.opcode() == SendOpcode.ATOMIC_FETCH_AND_ADD) {
      atomicRequest.fetchAndAdd(readNumber, key, address, request.compareOrAdd());
    } else {
      atomicRequest.compareAndSwap(
          readNumber, key, address, request.compareOrAdd(), request.swap());
    }
    atomicRequest.write(writer.own());
    writer.payloadFrom(at);
    writer.end(header);
  }

  /** Adds immediate data, as a message of its own behind the WRITE (RFC 7306, section 6). */
  private boolean addImmediate(SendWorkRequest request) {
    boolean solicited = (request.flags() & SendWorkRequest.SOLICITED) != 0;
    sendNumber++;
    writer.begin(
        header.untagged(
            solicited ? RdmapOpcode.IMMEDIATE_SOLICITED : RdmapOpcode.IMMEDIATE,
            true,
            0,
            sendNumber,
            0,
            FpduLayout.IMMEDIATE_LENGTH));
    int at = writer.own().position();
    ImmediateData.write(writer.own(), request.immediate());
    writer.payloadFrom(at);
    writer.end(header);
    return done();
  }

  private boolean addSegment(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    ScatterGatherList buffers = request.buffers();
    long total = length(request);
    int most = (int) Math.min(total - cut, MOST_PAYLOAD);
    int length = inline == null ? writer.measure(buffers, cursor, most) : most;
    if (length == 0 && most > 0) {
      return false;
    }
    boolean last = cut + length == total;
    setHeader(request, last, length);
    writer.begin(header);
    if (inline != null) {
      writer.payload(inline, inline.position(), length);
    } else if (!addPayload(buffers, length)) {
      writer.takeBack();
      return failAtNext(CompletionStatus.LOC_PROT_ERR);
    }
    writer.end(header);
    cut += length;
    if (last && request.opcode() == SendOpcode.RDMA_WRITE_WITH_IMM) {
      written = true;
      return true;
    }
    return !last || done();
  }

  private boolean addPayload(ScatterGatherList buffers, int length) {
    for (int left = length; left > 0; ) {
      int piece = Math.min(cursor.piece(buffers), left);
      if (!writer.payload(Use.SEND, cursor.key(buffers), cursor.address(buffers), piece)) {
        return false;
      }
      cursor.advance(piece);
      left -= piece;
    }
    return true;
  }

  private void setHeader(SendWorkRequest request, boolean last, int length) {
    if (request.opcode() == SendOpcode.RDMA_WRITE
        || request.opcode() == SendOpcode.RDMA_WRITE_WITH_IMM) {
      header.tagged(
          RdmapOpcode.WRITE, last, request.remoteKey(), request.remoteAddress() + cut, length);
      return;
    }
    if (cut == 0) {
      sendNumber++;
    }
    boolean solicited = (request.flags() & SendWorkRequest.SOLICITED) != 0;
    boolean invalidates = request.opcode() == SendOpcode.SEND_WITH_INV;
    RdmapOpcode operation =
        invalidates
            ? solicited
                ? RdmapOpcode.SEND_SOLICITED_WITH_INVALIDATE
                : RdmapOpcode.SEND_WITH_INVALIDATE
            : solicited ? RdmapOpcode.SEND_SOLICITED : RdmapOpcode.SEND;
    header.untagged(
        operation, last, invalidates ? request.remoteKey() : 0, sendNumber, (int) cut, length);
  }

  /** Notes that all of the next request is in FPDUs, or that it needs none. */
  private boolean done() {
    if (next - head == ends.length) {
      grow();
    }
    ends[slot(next)] = writer.added();
    next++;
    begun = false;
    return true;
  }

  private void grow() {
    long[] longer = new long[2 * ends.length];
    for (long position = head; position < next; position++) {
      longer[(int) position & longer.length - 1] = ends[slot(position)];
    }
    ends = longer;
  }

  private int slot(long position) {
    return (int) position & ends.length - 1;
  }

  private boolean failAtNext(CompletionStatus status) {
    failedPosition = next;
    failedStatus = status;
    return false;
  }

  // ---- completions

  /**
   * Completes the requests that are done.
   *
   * @return whether the oldest request that is left is invalid: then the queue pair must stop
   */
  boolean complete() {
    completeDone();
    return head == failedPosition;
  }

  private void completeDone() {
    while (head < next && ends[slot(head)] <= writer.written()) {
      SendWorkRequest request = ring.request(head);
      if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
        return;
      }
      completeHead(request);
    }
  }

  private void completeHead(SendWorkRequest request) {
    long position = head++;
    if ((request.flags() & SendWorkRequest.SIGNALED) != 0) {
      host.sendDone(
          position, request, RequestOpcodes.completion(request.opcode()), (int) length(request));
    }
  }

  /** Fails the request that {@link #complete} found invalid; the others must be flushed. */
  void failBad() {
    failHead(failedStatus);
  }

  /** Fails the oldest request, a READ or atomic whose answer was wrong or cannot be placed. */
  void failAsked(CompletionStatus status) {
    failHead(status);
  }

  // ---- READs and atomics

  /** Returns the READ or atomic that the peer answers next, or null if it has none to answer. */
  @Nullable SendWorkRequest oldestAsked() {
    if (head == next || ends[slot(head)] > writer.written()) {
      return null;
    }
    SendWorkRequest oldest = ring.request(head);
    return RequestOpcodes.isReadOrAtomic(oldest.opcode()) ? oldest : null;
  }

  /**
   * Returns the number of that request, which its answer names as the sink's tag or as the
   * identifier.
   */
  int oldestNumber() {
    return readNumber - reads + 1;
  }

  /**
   * Completes the oldest request, which is answered, and the finished requests behind it, up to the
   * next READ or atomic.
   */
  void answered() {
    reads--;
    completeHead(ring.request(head));
    completeDone();
  }
}
