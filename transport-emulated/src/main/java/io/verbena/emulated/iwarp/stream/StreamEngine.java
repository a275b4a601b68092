// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.engine.SendRing;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.QueuePairState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one queue pair, from the first FPDU of its stream on.
 *
 * <pre>{@code
 * IDLE -- start --> WAITING -- first FPDU of the peer --> OPEN
 *                      |  the passive end only; it sends nothing yet
 * WAITING, OPEN -- fault, own or the peer's; ERR --> ENDING: a TERMINATE goes out, if it can
 *               -- TERMINATE, end or loss of the stream ------+
 * ENDING -- all is out, or taken out --> ENDED <--------------+
 * any -- RESET --> IDLE
 * }</pre>
 *
 * After a stream has left OPEN, the queue pair is in ERR, and all posted requests are flushed: for
 * a request that failed at the peer, iWARP reports only that the stream ended (RFC 5040, section
 * 8.2).
 *
 * <p>For one caller at a time; see the package. A call throws after a programming error, of the
 * engine or of its caller; then the stream has ended.
 */
public final class StreamEngine {
  /** The number of bytes after which a turn ends. */
  private static final int TURN = 512 * 1024;

  private final EngineHost host;
  private final FpduWriter writer;
  private final Outbound outbound;
  private final ReadAtomicResponder answers;
  private final InboundMessage message;
  private final FpduReader inbound;
  private final boolean sharedReceives;
  private State state = State.IDLE;

  /** Whether the stream has been in OPEN. */
  private boolean opened;

  private boolean full;

  /** In ENDING: the cause to send to the peer. */
  private @Nullable TerminateCause causeToSend;

  private @Nullable FpduHeader fault;
  private @Nullable TerminateCause peersCause;

  /** The states of a stream. */
  public enum State {
    IDLE,
    WAITING,
    OPEN,
    ENDING,
    ENDED
  }

  /**
   * Creates an engine without a stream. {@code host}, {@code placement} and {@code sends} belong to
   * its queue pair.
   */
  public StreamEngine(StreamOptions options, EngineHost host, Placement placement, SendRing sends) {
    this.host = host;
    sharedReceives = options.sharedReceives();
    writer = new FpduWriter(placement);
    outbound = new Outbound(sends, host, placement, writer, options.maxMessage());
    answers = new ReadAtomicResponder(host, writer);
    message = new InboundMessage(host, options.maxReceiveScatterGather());
    inbound = new FpduReader(host, placement, outbound, answers, message, new Ends());
  }

  /** Handles the events of {@link FpduReader}. */
  private final class Ends implements FpduReader.Owner {
    @Override
    public void came() {
      if (state == State.WAITING) {
        state = State.OPEN;
        opened = true;
      }
    }

    @Override
    public void terminated(TerminateCause cause) {
      peersCause = cause;
      stop(State.ENDED);
    }

    @Override
    public void failed(TerminateCause cause, @Nullable FpduHeader of) {
      end(cause, of);
    }
  }

  public State state() {
    return state;
  }

  /** Returns whether the stream has been open; it may have ended within the same call. */
  public boolean hasOpened() {
    return opened;
  }

  /** Returns the cause by which the peer ended the stream; null if it sent none. */
  public @Nullable TerminateCause peersCause() {
    return peersCause;
  }

  /** Begins a stream; the queue pair takes messages from now on. */
  public void start(StreamTerms terms) {
    writer.start(terms.crc());
    outbound.start(terms);
    answers.start(terms.responderDepth());
    inbound.start(terms);
    full = false;
    causeToSend = null;
    fault = null;
    peersCause = null;
    opened = terms.role() != StreamTerms.Role.PASSIVE;
    state = opened ? State.OPEN : State.WAITING;
    if (terms.role() == StreamTerms.Role.ACTIVE_WRITES_FIRST) {
      outbound.makeReady();
    }
  }

  /** Drops everything, without completions: the queue pair was reset. */
  public void reset() {
    state = State.IDLE;
    opened = false;
    inbound.stop();
    writer.clear();
    message.drop();
    outbound.clear();
  }

  /**
   * Flushes all posted requests: the queue pair is in ERR. An open stream ends first, so that no
   * flushed buffer is written, taken or read; a begun FPDU stays incomplete.
   */
  public void flush() {
    if (state == State.WAITING || state == State.OPEN) {
      inbound.stop();
      state = writer.giveUpPayload() ? State.ENDING : State.ENDED;
    }
    outbound.flush();
    message.flush(sharedReceives);
    if (sharedReceives) {
      host.raise(AsyncEvent.Type.QP_LAST_WQE_REACHED);
    }
  }

  /** Notes that the channel may take bytes again. */
  public void writable() {
    full = false;
  }

  /** Returns whether the engine waits for {@link #writable}. */
  public boolean isFull() {
    return full;
  }

  /**
   * Sends what is ready to be sent.
   *
   * @return whether there is more to send, which the channel may take at once
   */
  public boolean send(GatheringByteChannel to) {
    if (full) {
      return false;
    }
    try {
      return sendSome(to);
    } catch (IOException e) {
      lost();
      return false;
    } catch (RuntimeException | Error e) {
      breakDown(e);
      throw e;
    }
  }

  private boolean sendSome(GatheringByteChannel to) throws IOException {
    long end = writer.written() + TURN;
    answers.beginTurn();
    while (writer.written() < end) {
      fill();
      // In ENDED the rest may be in memory of requests that were flushed.
      if (writer.isEmpty() || state == State.ENDED) {
        if (state == State.ENDING) {
          state = State.ENDED;
        }
        return state == State.OPEN && answers.areHeldUp();
      }
      if (!writer.write(to)) {
        memoryGone();
        continue;
      }
      complete();
      if (!writer.isEmpty()) {
        full = true;
        return false;
      }
    }
    return true;
  }

  /**
   * In ENDING: removes and returns the bytes that the peer must still read, with the TERMINATE at
   * their end. The caller sends them in place of this engine.
   *
   * @return a buffer that belongs to the caller
   */
  public ByteBuffer takeRest() {
    ByteBuffer begun = writer.takeRest();
    fill();
    ByteBuffer last = writer.takeRest();
    state = State.ENDED;
    return ByteBuffer.allocate(begun.remaining() + last.remaining()).put(begun).put(last).flip();
  }

  private void fill() {
    if (state == State.OPEN) {
      fillOpen();
    }
    // In the same turn: the bytes sent before may just have ended the stream.
    TerminateCause cause = causeToSend;
    if (state == State.ENDING && cause != null && writer.isEmpty()) {
      outbound.terminate(cause, fault);
      causeToSend = null;
    }
  }

  private void fillOpen() {
    boolean more = true;
    while (more && writer.hasRoom()) {
      more = answers.areDue() && addAnswer();
      if (state == State.OPEN && writer.hasRoom() && outbound.step()) {
        more = true;
      }
    }
    complete();
  }

  /** Ends the stream: memory to be sent may no longer be read. */
  private void memoryGone() {
    if (state == State.OPEN) {
      end(TerminateCause.LOCAL, null);
    } else {
      lost();
    }
  }

  private boolean addAnswer() {
    if (answers.addNext()) {
      return true;
    }
    host.raise(AsyncEvent.Type.QP_ACCESS_ERR);
    end(TerminateCause.REMOTE_PROTECTION, null);
    return false;
  }

  /** Completes requests; if one is invalid by itself, the stream ends. */
  private void complete() {
    if (state == State.OPEN && outbound.complete()) {
      outbound.failBad();
      end(TerminateCause.LOCAL, null);
    }
  }

  /**
   * Takes the bytes that have come.
   *
   * @return whether any have come, or the stream has ended because memory to read into is gone
   */
  public boolean receive(ScatteringByteChannel from) {
    if (state != State.OPEN && state != State.WAITING) {
      return false;
    }
    State before = state;
    try {
      long came = inbound.receive(from);
      if (came < 0) {
        lost();
      } else {
        complete();
      }
      return came != 0 || state != before;
    } catch (IOException e) {
      lost();
      return true;
    } catch (RuntimeException | Error e) {
      breakDown(e);
      throw e;
    }
  }

  /** Notes that the stream is at its end, or broken: nothing can be sent any more. */
  public void lost() {
    if (state != State.IDLE) {
      stop(State.ENDED);
    }
  }

  /** Ends the stream because of a fault, and sends the cause to the peer if possible. */
  private void end(TerminateCause cause, @Nullable FpduHeader of) {
    causeToSend = cause;
    fault = of;
    stop(writer.copyPayload() ? State.ENDING : State.ENDED);
  }

  private void stop(State to) {
    boolean went = state == State.OPEN || state == State.WAITING;
    state = to;
    inbound.stop();
    if (went) {
      host.moved(QueuePairState.ERR);
      flush();
    }
  }

  /** Stops for good after a programming error, whatever the state. */
  private void breakDown(Throwable mistake) {
    try {
      host.raise(AsyncEvent.Type.QP_FATAL);
      lost();
    } catch (RuntimeException | Error again) {
      mistake.addSuppressed(again);
    }
  }
}
