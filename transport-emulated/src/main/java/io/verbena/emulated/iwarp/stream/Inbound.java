// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.Grant;
import io.verbena.emulated.engine.Host;
import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.emulated.engine.Segments;
import io.verbena.emulated.iwarp.frame.AtomicRequest;
import io.verbena.emulated.iwarp.frame.AtomicResponse;
import io.verbena.emulated.iwarp.frame.FpduCheck;
import io.verbena.emulated.iwarp.frame.FpduFault;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.ImmediateData;
import io.verbena.emulated.iwarp.frame.ReadRequest;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Takes the bytes of the peer, cut anywhere, and does what its FPDUs ask for.
 *
 * <pre>
 *  HEADER -- all of it is there, and no fault --> PAYLOAD -- placed --> TRAILER -- CRC --> HEADER
 *     |  READ request, TERMINATE, atomic, immediate data: once all of the FPDU is there
 *     +-- anything wrong: STOPPED
 * </pre>
 *
 * Payload is placed as it comes, before its CRC is there, as RNICs do; a completion tells of it
 * only behind that.
 */
final class Inbound {
  private static final int OWN_BYTES = 8192;

  /** Payload that is still missing is read into its place from here on. */
  private static final int LARGE = 2048;

  /** Behind such payload: the trailer, the next header, and perhaps the short end of a message. */
  private static final int READ_AHEAD = 512;

  /** Bytes to take before others have their turn. */
  private static final int TURN = 512 * 1024;

  /** More than any payload that is looked at as a whole. */
  private static final int MOST_WHOLE = 128;

  private final Host host;
  private final Placement placement;
  private final Outbound outbound;
  private final Answers answers;
  private final InboundMessage message;
  private final Owner owner;
  private final ByteBuffer own = ByteBuffer.allocateDirect(OWN_BYTES).limit(0);
  private final ByteBuffer[] scatter = new ByteBuffer[2];
  private final MemoryView view = new MemoryView();
  private final FpduHeader header = new FpduHeader();
  private final FpduCheck check = new FpduCheck();
  private final ReadRequest readRequest = new ReadRequest();
  private final AtomicRequest atomicRequest = new AtomicRequest();
  private final ByteBuffer original =
      ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
  private final BufferCursor sink = new BufferCursor();

  private State state = State.STOPPED;

  /** Payload of this FPDU that has not come. */
  private int left;

  /** Of a WRITE, where the next byte goes. */
  private long writeAt;

  /** Bytes of the WRITE that came last, of which {@link #writeEnded} says whether it is whole. */
  private long written;

  private boolean writeEnded;

  /** Of the answer to a READ, bytes that have come before. */
  private long answered;

  private boolean extensions;
  private int readNumber;
  private int responseNumber;

  private enum State {
    HEADER,
    PAYLOAD,
    TRAILER,
    STOPPED
  }

  /** Whose stream it is. */
  interface Owner {
    /** An FPDU has come whole, and there was no fault in it. */
    void came();

    /** The peer ends the stream. */
    void terminated(TerminateCause cause);

    /**
     * The stream cannot go on.
     *
     * @param fault the FPDU for which it cannot, or null
     */
    void failed(TerminateCause cause, @Nullable FpduHeader fault);
  }

  Inbound(
      Host host,
      Placement placement,
      Outbound outbound,
      Answers answers,
      InboundMessage message,
      Owner owner) {
    this.host = host;
    this.placement = placement;
    this.outbound = outbound;
    this.answers = answers;
    this.message = message;
    this.owner = owner;
  }

  /** Begins a stream. */
  void start(StreamTerms terms) {
    check.on(terms.crc());
    own.limit(0).position(0);
    extensions = terms.extensions();
    readNumber = 0;
    responseNumber = 0;
    answered = 0;
    written = 0;
    writeEnded = true;
    state = State.HEADER;
    message.start();
  }

  /** Takes nothing more. */
  void stop() {
    state = State.STOPPED;
    view.clear();
  }

  /**
   * Takes what has come.
   *
   * @return how many bytes that were; -1 if no more ever come
   */
  long receive(ScatteringByteChannel from) throws IOException {
    long taken = 0;
    while (state != State.STOPPED && taken < TURN) {
      boolean direct = state == State.PAYLOAD && left >= LARGE;
      int asked;
      long came;
      if (direct) {
        ByteBuffer target = target(left);
        if (target == null) {
          break;
        }
        own.clear().limit(READ_AHEAD);
        asked = target.remaining() + READ_AHEAD;
        came = readInto(target, from);
      } else {
        own.compact();
        asked = own.remaining();
        came = from.read(own);
        own.flip();
      }
      if (came <= 0) {
        return taken == 0 ? came : taken;
      }
      taken += came;
      parse();
      if (came < asked) {
        break;
      }
    }
    return taken;
  }

  private long readInto(ByteBuffer target, ScatteringByteChannel from) throws IOException {
    int at = target.position();
    scatter[0] = target;
    scatter[1] = own;
    long came;
    try {
      came = from.read(scatter, 0, 2);
    } catch (RuntimeException | Error e) {
      own.flip();
      memoryGone();
      return 0;
    }
    own.flip();
    placed(target, at, target.position() - at);
    return came;
  }

  private void parse() {
    boolean more = true;
    while (more) {
      more =
          switch (state) {
            case HEADER -> parseHeader();
            case PAYLOAD -> place();
            case TRAILER -> parseTrailer();
            case STOPPED -> false;
          };
    }
  }

  private boolean parseHeader() {
    int at = own.position();
    if (own.remaining() < FpduHeader.LEAST) {
      return false;
    }
    int length = FpduHeader.length(own, at);
    if (own.remaining() < length) {
      return false;
    }
    FpduFault fault = header.parse(own, at);
    if (fault == FpduFault.NONE && header.opcode().isExtension() && !extensions) {
      fault = FpduFault.OPCODE;
    }
    if (fault != FpduFault.NONE) {
      return refuse(fault.cause, CompletionStatus.GENERAL_ERR, AsyncEvent.Type.QP_REQ_ERR, null);
    }
    left = header.payloadLength();
    boolean whole = isWhole();
    if (whole && left > MOST_WHOLE) {
      return invalid(TerminateCause.UNTAGGED_TOO_LONG);
    }
    if (whole && own.remaining() < length + left + header.pad() + FpduLayout.CRC_LENGTH) {
      return false;
    }
    check.begin();
    check.take(own, at, length);
    own.position(at + length);
    if (whole) {
      return parseWhole();
    }
    if (!begin()) {
      return false;
    }
    state = State.PAYLOAD;
    return true;
  }

  // ---- messages of one FPDU

  private boolean isWhole() {
    return switch (header.opcode()) {
      case READ_REQUEST,
          TERMINATE,
          IMMEDIATE,
          IMMEDIATE_SOLICITED,
          ATOMIC_REQUEST,
          ATOMIC_RESPONSE ->
          true;
      default -> false;
    };
  }

  private boolean parseWhole() {
    int at = own.position();
    int length = left;
    check.take(own, at, length);
    own.position(at + length);
    left = 0;
    state = State.TRAILER;
    if (!parseTrailer()) {
      return false;
    }
    return switch (header.opcode()) {
      case READ_REQUEST -> read(at, length);
      case ATOMIC_REQUEST -> atomic(at, length);
      case ATOMIC_RESPONSE -> response(at, length);
      case IMMEDIATE, IMMEDIATE_SOLICITED -> immediate(at, length);
      default -> {
        TerminateCause cause = Terminate.parse(own, at, length);
        stop();
        owner.terminated(cause);
        yield false;
      }
    };
  }

  /** Whether the message is one FPDU of this length. */
  private boolean isSingle(int length, int due) {
    return length == due && header.messageOffset() == 0 && header.isLast();
  }

  private boolean read(int at, int length) {
    if (!isSingle(length, FpduLayout.READ_REQUEST_LENGTH)) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (header.sequence() != ++readNumber) {
      return invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    readRequest.parse(own, at);
    if (readRequest.length() > 0) {
      if (!placement.allows(Use.READ)) {
        return invalid(TerminateCause.REMOTE_ACCESS);
      }
      if (readRequest.length() > Integer.MAX_VALUE
          || !placement.permits(
              Use.READ,
              readRequest.sourceTag(),
              readRequest.sourceOffset(),
              (int) readRequest.length())) {
        return denied(TerminateCause.REMOTE_PROTECTION);
      }
    }
    return answers.add(readRequest) || invalid(TerminateCause.STREAM_CATASTROPHE);
  }

  /** Counts with the READs, whose queue it shares (RFC 7306, section 5.2.1). */
  private boolean atomic(int at, int length) {
    if (!isSingle(length, FpduLayout.ATOMIC_REQUEST_LENGTH)) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (header.sequence() != ++readNumber) {
      return invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    atomicRequest.parse(own, at);
    if (atomicRequest.operation() == null) {
      return invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if ((atomicRequest.offset() & Long.BYTES - 1) != 0) {
      return invalid(TerminateCause.UNSPECIFIED_OPERATION);
    }
    if (!placement.allows(Use.ATOMIC)) {
      return invalid(TerminateCause.REMOTE_ACCESS);
    }
    if (!placement.permits(Use.ATOMIC, atomicRequest.tag(), atomicRequest.offset(), Long.BYTES)) {
      return denied(TerminateCause.REMOTE_PROTECTION);
    }
    return answers.add(atomicRequest) || invalid(TerminateCause.STREAM_CATASTROPHE);
  }

  private boolean response(int at, int length) {
    if (!isSingle(length, FpduLayout.ATOMIC_RESPONSE_LENGTH)) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (header.sequence() != ++responseNumber) {
      return invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    SendWorkRequest request = outbound.oldestAsked();
    if (request == null || !RequestOpcodes.isAtomic(request.opcode())) {
      return invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if (AtomicResponse.identifier(own, at) != outbound.oldestNumber()) {
      outbound.failAsked(CompletionStatus.BAD_RESP_ERR);
      return invalid(TerminateCause.UNSPECIFIED_OPERATION);
    }
    original.putLong(0, AtomicResponse.original(own, at));
    Grant placed = Segments.scatter(host, request.buffers(), 0, original, 0, Long.BYTES);
    if (placed != Grant.GRANTED) {
      outbound.failAsked(CompletionStatus.LOC_PROT_ERR);
      return invalid(TerminateCause.LOCAL);
    }
    outbound.answered();
    return true;
  }

  /** Takes a receive, as a SEND does, whose queue it shares (RFC 7306, section 6.3). */
  private boolean immediate(int at, int length) {
    if (!isSingle(length, FpduLayout.IMMEDIATE_LENGTH)) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (!beginSend()) {
      return false;
    }
    long told = writeEnded ? Math.min(written, Integer.MAX_VALUE) : 0;
    written = 0;
    message.complete(ImmediateData.parse(own, at), (int) told, header.opcode().solicits());
    return true;
  }

  // ---- payload

  /** Whether the payload of this FPDU may come. */
  private boolean begin() {
    return switch (header.opcode()) {
      case WRITE -> beginWrite();
      case READ_RESPONSE -> beginAnswer();
      default -> beginSend();
    };
  }

  private boolean beginWrite() {
    writeAt = header.taggedOffset();
    if (writeEnded) {
      written = 0;
    }
    written += left;
    writeEnded = header.isLast();
    if (left == 0) {
      return true;
    }
    if (!placement.allows(Use.WRITE)) {
      return invalid(TerminateCause.REMOTE_ACCESS);
    }
    return placement.permits(Use.WRITE, header.tag(), writeAt, left)
        || denied(TerminateCause.TAGGED_INVALID_TAG);
  }

  private boolean beginAnswer() {
    SendWorkRequest request = outbound.oldestAsked();
    if (request == null || request.opcode() != SendOpcode.RDMA_READ) {
      return invalid(TerminateCause.UNEXPECTED_OPCODE);
    }
    if (answered == 0) {
      sink.rewind();
    }
    long end = answered + left;
    long due = request.buffers().totalLength();
    boolean fits = end < due ? !header.isLast() : end == due && header.isLast();
    if (header.tag() != outbound.oldestNumber() || header.taggedOffset() != answered || !fits) {
      outbound.failAsked(CompletionStatus.BAD_RESP_ERR);
      return invalid(TerminateCause.TAGGED_BOUNDS);
    }
    return true;
  }

  private boolean beginSend() {
    if (header.sequence() != message.sequence()) {
      return invalid(TerminateCause.UNTAGGED_SEQUENCE);
    }
    if (header.messageOffset() != message.filled()) {
      return invalid(TerminateCause.UNTAGGED_MESSAGE_OFFSET);
    }
    if (!message.take()) {
      return invalid(TerminateCause.UNTAGGED_NO_BUFFER);
    }
    return message.hasRoom(left)
        || refuse(
            TerminateCause.UNTAGGED_TOO_LONG,
            CompletionStatus.LOC_LEN_ERR,
            AsyncEvent.Type.QP_REQ_ERR,
            header);
  }

  private boolean place() {
    while (left > 0 && own.hasRemaining()) {
      ByteBuffer target = target(Math.min(left, own.remaining()));
      if (target == null) {
        return false;
      }
      int at = target.position();
      int length = target.remaining();
      try {
        target.put(at, own, own.position(), length);
      } catch (RuntimeException | Error e) {
        memoryGone();
        return false;
      }
      own.position(own.position() + length);
      placed(target, at, length);
    }
    if (left > 0) {
      return false;
    }
    state = State.TRAILER;
    return true;
  }

  /** Where the next payload goes, as far as that is in one piece; null if it may not go there. */
  private @Nullable ByteBuffer target(int most) {
    boolean shown =
        switch (header.opcode()) {
          case WRITE -> placement.show(Use.WRITE, header.tag(), writeAt, most, view);
          case READ_RESPONSE -> showSink(most);
          default -> showReceive(most);
        };
    if (shown) {
      return view.bytes();
    }
    memoryGone();
    return null;
  }

  private boolean showSink(int most) {
    SendWorkRequest request = outbound.oldestAsked();
    if (request == null) {
      return false;
    }
    int length = Math.min(sink.piece(request.buffers()), most);
    return placement.show(
        Use.SINK, sink.key(request.buffers()), sink.address(request.buffers()), length, view);
  }

  private boolean showReceive(int most) {
    BufferCursor at = message.cursor();
    int length = Math.min(at.piece(message.buffers()), most);
    return placement.show(
        Use.RECEIVE, at.key(message.buffers()), at.address(message.buffers()), length, view);
  }

  private void placed(ByteBuffer target, int at, int length) {
    if (length <= 0) {
      return;
    }
    check.take(target, at, length);
    left -= length;
    switch (header.opcode()) {
      case WRITE -> writeAt += length;
      case READ_RESPONSE -> {
        sink.advance(length);
        answered += length;
      }
      default -> message.placed(length);
    }
  }

  /** The key has died since, or the memory behind it is gone. */
  private void memoryGone() {
    switch (header.opcode()) {
      case WRITE -> denied(TerminateCause.TAGGED_INVALID_TAG);
      case READ_RESPONSE -> {
        outbound.failAsked(CompletionStatus.LOC_PROT_ERR);
        invalid(TerminateCause.LOCAL);
      }
      default ->
          refuse(
              TerminateCause.LOCAL, CompletionStatus.LOC_PROT_ERR, AsyncEvent.Type.QP_FATAL, null);
    }
  }

  // ---- the end of an FPDU

  private boolean parseTrailer() {
    int pad = header.pad();
    if (own.remaining() < pad + FpduLayout.CRC_LENGTH) {
      return false;
    }
    int at = own.position();
    check.take(own, at, pad);
    if (!check.matches(own.getInt(at + pad))) {
      return refuse(
          TerminateCause.CRC, CompletionStatus.GENERAL_ERR, AsyncEvent.Type.QP_FATAL, null);
    }
    own.position(at + pad + FpduLayout.CRC_LENGTH);
    state = State.HEADER;
    owner.came();
    return !header.isLast() || isWhole() || end();
  }

  /** The last segment of a message is there. */
  private boolean end() {
    switch (header.opcode()) {
      case WRITE -> {}
      case READ_RESPONSE -> {
        answered = 0;
        outbound.answered();
      }
      default -> {
        if (header.opcode().invalidates() && !host.invalidateRemotely(header.tag())) {
          return refuse(
              TerminateCause.REMOTE_CANNOT_INVALIDATE,
              CompletionStatus.REM_INV_REQ_ERR,
              AsyncEvent.Type.QP_REQ_ERR,
              header);
        }
        message.complete(header);
      }
    }
    return true;
  }

  // ---- faults

  /** What the peer does is wrong, whatever the memory. */
  private boolean invalid(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_INV_REQ_ERR, AsyncEvent.Type.QP_REQ_ERR, header);
  }

  /** The key does not give what the peer does. */
  private boolean denied(TerminateCause cause) {
    return refuse(cause, CompletionStatus.REM_ACCESS_ERR, AsyncEvent.Type.QP_ACCESS_ERR, header);
  }

  private boolean refuse(
      TerminateCause cause,
      CompletionStatus status,
      AsyncEvent.Type event,
      @Nullable FpduHeader fault) {
    stop();
    if (!message.fail(status)) {
      host.raise(event);
    }
    owner.failed(cause, fault);
    return false;
  }
}
