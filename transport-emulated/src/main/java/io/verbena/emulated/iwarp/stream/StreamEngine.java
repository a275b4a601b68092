// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.Host;
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
 * Once it leaves OPEN the queue pair is in ERR, and all that is posted is flushed: iWARP knows of a
 * request that failed at the peer only that the stream ended (RFC 5040, section 8.2).
 *
 * <p>For one caller at a time; see the package. A call that meets a mistake, of the engine or of
 * what it is given, throws, and the stream has ended then.
 */
public final class StreamEngine {
  /** Bytes to send before others have their turn. */
  private static final int TURN = 512 * 1024;

  private final Host host;
  private final Gather gather;
  private final Outbound outbound;
  private final Answers answers;
  private final InboundMessage message;
  private final Inbound inbound;
  private final boolean sharedReceives;
  private State state = State.IDLE;
  private boolean full;

  /** In ENDING: what the peer is to be told. */
  private @Nullable TerminateCause farewell;

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
   * An engine without a stream, of a queue pair whose memory, queues and completions others have.
   */
  public StreamEngine(StreamOptions options, Host host, Placement placement, SendRing sends) {
    this.host = host;
    sharedReceives = options.sharedReceives();
    gather = new Gather(placement);
    outbound = new Outbound(sends, host, placement, gather, options.maxMessage());
    answers = new Answers(host, gather);
    message = new InboundMessage(host, options.maxReceiveScatterGather());
    inbound = new Inbound(host, placement, outbound, answers, message, new Ends());
  }

  /** What the peer's bytes lead to. */
  private final class Ends implements Inbound.Owner {
    @Override
    public void came() {
      if (state == State.WAITING) {
        state = State.OPEN;
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

  /** Why the peer ended the stream, if it said so. */
  public @Nullable TerminateCause peersCause() {
    return peersCause;
  }

  /** Begins a stream; the queue pair takes messages from now on. */
  public void start(StreamTerms terms) {
    gather.start(terms.crc());
    outbound.start(terms);
    answers.start(terms.responderDepth());
    inbound.start(terms);
    full = false;
    farewell = null;
    fault = null;
    peersCause = null;
    state = terms.role() == StreamTerms.Role.PASSIVE ? State.WAITING : State.OPEN;
    if (terms.role() == StreamTerms.Role.ACTIVE_WRITES_FIRST) {
      outbound.makeReady();
    }
  }

  /** The queue pair was reset: everything is forgotten, without completions. */
  public void reset() {
    state = State.IDLE;
    inbound.stop();
    gather.clear();
    message.drop();
    outbound.clear();
  }

  /**
   * The queue pair is in ERR: all that is posted is flushed. A stream that goes on ends first, as
   * nothing is placed, taken or read of what was told as flushed; what was begun of an FPDU is not
   * ended.
   */
  public void flush() {
    if (state == State.WAITING || state == State.OPEN) {
      inbound.stop();
      state = gather.giveUpPayload() ? State.ENDING : State.ENDED;
    }
    outbound.flush();
    message.flush(sharedReceives);
    if (sharedReceives) {
      host.raise(AsyncEvent.Type.QP_LAST_WQE_REACHED);
    }
  }

  /** The channel may take bytes again. */
  public void writable() {
    full = false;
  }

  /** Whether it waits for {@link #writable}. */
  public boolean isFull() {
    return full;
  }

  /**
   * Sends what there is to send.
   *
   * @return whether there is more, which the channel may take at once
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
    long end = gather.written() + TURN;
    answers.beginTurn();
    while (gather.written() < end) {
      fill();
      // What is left in ENDED may lie in memory of requests that were flushed.
      if (gather.isEmpty() || state == State.ENDED) {
        if (state == State.ENDING) {
          state = State.ENDED;
        }
        return state == State.OPEN && answers.areHeldUp();
      }
      if (!gather.write(to)) {
        memoryGone();
        continue;
      }
      complete();
      if (!gather.isEmpty()) {
        full = true;
        return false;
      }
    }
    return true;
  }

  /**
   * In ENDING: takes out what the peer is still to read, with the TERMINATE as its end, so that
   * others send it in place of this engine.
   *
   * @return bytes of the caller's own
   */
  public ByteBuffer takeRest() {
    ByteBuffer begun = gather.takeRest();
    fill();
    ByteBuffer last = gather.takeRest();
    state = State.ENDED;
    return ByteBuffer.allocate(begun.remaining() + last.remaining()).put(begun).put(last).flip();
  }

  private void fill() {
    if (state == State.OPEN) {
      fillOpen();
    }
    // Not in another turn: what there was to send may just have ended the stream.
    TerminateCause cause = farewell;
    if (state == State.ENDING && cause != null && gather.isEmpty()) {
      outbound.terminate(cause, fault);
      farewell = null;
    }
  }

  private void fillOpen() {
    boolean more = true;
    while (more && gather.hasRoom()) {
      more = answers.areDue() && addAnswer();
      if (state == State.OPEN && gather.hasRoom() && outbound.step()) {
        more = true;
      }
    }
    complete();
  }

  /** What was to be written may not be read any more. */
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

  /** Completes requests; if one is bad by itself, the stream ends. */
  private void complete() {
    if (state == State.OPEN && outbound.complete()) {
      outbound.failBad();
      end(TerminateCause.LOCAL, null);
    }
  }

  /**
   * Takes what has come.
   *
   * @return whether anything has, or the stream ends for want of memory to read into
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

  /** The stream is at its end, or broken: nothing can be told any more. */
  public void lost() {
    if (state != State.IDLE) {
      stop(State.ENDED);
    }
  }

  /** Something is wrong: tells the peer if that can be, and stops. */
  private void end(TerminateCause cause, @Nullable FpduHeader of) {
    farewell = cause;
    fault = of;
    stop(gather.copyPayload() ? State.ENDING : State.ENDED);
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

  /** Stops for good after a mistake, in whatever state that has left it. */
  private void breakDown(Throwable mistake) {
    try {
      host.raise(AsyncEvent.Type.QP_FATAL);
      lost();
    } catch (RuntimeException | Error again) {
      mistake.addSuppressed(again);
    }
  }
}
