// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.FpduCheck;
import io.verbena.emulated.iwarp.frame.FpduFault;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Takes the peer's bytes, in pieces of any size, and executes its FPDUs.
 *
 * <pre>
 *  HEADER -- all of it is there, and no fault --> PAYLOAD -- placed --> TRAILER -- CRC --> HEADER
 *     |  READ request, TERMINATE, atomic, immediate data: once all of the FPDU is there
 *     +-- anything wrong: STOPPED
 * </pre>
 *
 * Payload is placed as it comes, before its CRC, as in RNICs; the completion comes only after the
 * CRC. With CRCs payload passes through a buffer: a program may change placed bytes at once, and
 * the CRC must cover the bytes that came.
 */
final class FpduReader {
  private static final int OWN_BYTES = 8192;

  /** The size of the buffer with CRCs, when all payload passes through it. */
  private static final int CHECKED_BYTES = 32 * 1024;

  /** From this length on, missing payload is read directly into its place. */
  private static final int LARGE = 2048;

  /**
   * Bytes to read behind such payload: the trailer, the next header, and perhaps the short end of a
   * message.
   */
  private static final int READ_AHEAD = 512;

  /** The number of bytes after which a turn ends. */
  private static final int TURN = 512 * 1024;

  /** More than any payload that is parsed as a whole. */
  private static final int MOST_WHOLE = 128;

  private final Placement placement;
  private final InboundMessage message;
  private final InboundFaults faults;
  private final InboundWrites writes;
  private final InboundResponses responses;
  private final InboundSends sends;
  private final InboundRequests requests;
  private final Owner owner;
  private ByteBuffer own = ByteBuffer.allocateDirect(OWN_BYTES);
  private final ByteBuffer[] scatter = new ByteBuffer[2];
  private final MemoryView view = new MemoryView();
  private final FpduHeader header = new FpduHeader();
  private final FpduCheck check = new FpduCheck();

  private State state = State.STOPPED;

  /** Payload bytes of this FPDU that are not placed yet. */
  private int left;

  private boolean extensions;

  private enum State {
    HEADER,
    PAYLOAD,
    TRAILER,
    STOPPED
  }

  /** The owner of the stream; when the stream ends, the owner {@linkplain #stop stops} this. */
  interface Owner {
    /** Called when a whole FPDU without fault has come. */
    void came();

    /** Called when the peer ends the stream. */
    void terminated(TerminateCause cause);

    /**
     * Called when the stream cannot go on.
     *
     * @param fault the FPDU that is the reason, or null
     */
    void failed(TerminateCause cause, @Nullable FpduHeader fault);
  }

  FpduReader(
      EngineHost host,
      Placement placement,
      Outbound outbound,
      ReadAtomicResponder answers,
      InboundMessage message,
      Owner owner) {
    this.placement = placement;
    this.message = message;
    this.owner = owner;
    faults = new InboundFaults(host, message, header, owner);
    writes = new InboundWrites(placement, header, faults);
    responses = new InboundResponses(host, placement, outbound, header, faults);
    sends = new InboundSends(host, placement, message, header, faults);
    requests = new InboundRequests(placement, answers, faults);
  }

  /** Begins a stream. */
  void start(StreamTerms terms) {
    check.on(terms.crc());
    if (terms.crc() && own.capacity() < CHECKED_BYTES) {
      own = ByteBuffer.allocateDirect(CHECKED_BYTES);
    }
    own.limit(0).position(0);
    extensions = terms.extensions();
    state = State.HEADER;
    message.start();
    writes.start();
    responses.start();
    requests.start();
  }

  /** Stops: takes no more bytes. */
  void stop() {
    state = State.STOPPED;
    view.clear();
  }

  /**
   * Takes the bytes that have come.
   *
   * @return the number of bytes; -1 if the stream is at its end
   */
  long receive(ScatteringByteChannel from) throws IOException {
    long taken = 0;
    while (state != State.STOPPED && taken < TURN) {
      boolean direct = state == State.PAYLOAD && left >= LARGE && !check.isOn();
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
        if (state == State.PAYLOAD && left >= LARGE) {
          // Not beyond the payload: a header that is split between two reads hides its FPDU from
          // Wireshark.
          own.limit(Math.min(left, own.capacity()));
        }
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
    placed(target.position() - at);
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
      return faults.refuse(
          fault.cause, CompletionStatus.GENERAL_ERR, AsyncEvent.Type.QP_REQ_ERR, null);
    }
    left = header.payloadLength();
    boolean whole = isWhole();
    if (whole && left > MOST_WHOLE) {
      return faults.invalid(TerminateCause.UNTAGGED_TOO_LONG);
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
      case READ_REQUEST -> requests.read(own, at);
      case ATOMIC_REQUEST -> requests.atomic(own, at);
      case ATOMIC_RESPONSE -> responses.atomic(own, at);
      case IMMEDIATE, IMMEDIATE_SOLICITED -> sends.immediate(own, at, writes);
      default -> {
        owner.terminated(Terminate.parse(own, at, length));
        yield false;
      }
    };
  }

  // ---- payload

  /** Returns whether the payload of this FPDU is accepted. */
  private boolean begin() {
    return switch (header.opcode()) {
      case WRITE -> writes.begin(left);
      case READ_RESPONSE -> responses.begin(left);
      default -> sends.begin(left);
    };
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
      check.take(own, own.position(), length);
      own.position(own.position() + length);
      placed(length);
    }
    if (left > 0) {
      return false;
    }
    state = State.TRAILER;
    return true;
  }

  /**
   * Returns the memory for the next payload, as far as it is contiguous; null if it may not be
   * written.
   */
  private @Nullable ByteBuffer target(int most) {
    boolean shown =
        switch (header.opcode()) {
          case WRITE -> writes.show(most, view);
          case READ_RESPONSE -> responses.show(most, view);
          default -> message.show(placement, most, view);
        };
    if (shown) {
      return view.bytes();
    }
    memoryGone();
    return null;
  }

  private void placed(int length) {
    if (length <= 0) {
      return;
    }
    left -= length;
    switch (header.opcode()) {
      case WRITE -> writes.placed(length);
      case READ_RESPONSE -> responses.placed(length);
      default -> message.placed(length);
    }
  }

  /** Handles a key that has died since, or whose memory is gone. */
  private void memoryGone() {
    switch (header.opcode()) {
      case WRITE -> writes.memoryGone();
      case READ_RESPONSE -> responses.memoryGone();
      default -> sends.memoryGone();
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
      return faults.refuse(
          TerminateCause.CRC, CompletionStatus.GENERAL_ERR, AsyncEvent.Type.QP_FATAL, null);
    }
    own.position(at + pad + FpduLayout.CRC_LENGTH);
    state = State.HEADER;
    owner.came();
    return !header.isLast() || isWhole() || end();
  }

  /** Handles the last segment of a message. */
  private boolean end() {
    return switch (header.opcode()) {
      case WRITE -> true;
      case READ_RESPONSE -> responses.end();
      default -> sends.end();
    };
  }
}
