// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;

/**
 * The receiving half of a stream: takes messages with their {@link Signal}s from receives that have
 * completed, and returns the peer's credits. On the event loop's thread only.
 */
final class StreamInput {
  private final Stream stream;
  private final ReceiveBuffers receiveBuffers;
  private final SendBuffers sendBuffers;

  /** Whether signals stand behind the bytes of messages, for want of immediate data. */
  private final boolean trails;

  /** Whether a receive was flushed: all before it have completed. */
  private boolean flushed;

  /**
   * @param stream breaks where the peer lies, or the HCA takes no more receives
   * @param sendBuffers sends credits, and gets those of the peer
   */
  StreamInput(
      Stream stream, ReceiveBuffers receiveBuffers, SendBuffers sendBuffers, boolean trails) {
    this.stream = stream;
    this.receiveBuffers = receiveBuffers;
    this.sendBuffers = sendBuffers;
    this.trails = trails;
  }

  /** Handles a receive that has completed, whose frame is taken over; throws nothing. */
  void received(ByteBuf frame, WorkCompletion completion) {
    try {
      if (!completion.isSuccess()) {
        receiveBuffers.halt();
        receiveBuffers.drop(frame);
        flushed |= completion.status() == CompletionStatus.WR_FLUSH_ERR;
        stream.receiveFailed(completion.status());
      } else if (stream.isClosed()) {
        receiveBuffers.drop(frame);
      } else {
        arrived(frame, completion);
      }
    } catch (VerbsException | RdmaException e) {
      failReceives(e);
    } catch (RuntimeException | Error e) {
      stream.broke(e);
    }
  }

  private void arrived(ByteBuf frame, WorkCompletion completion) {
    int length = completion.byteLength() - (trails ? SignalTrailers.LENGTH : 0);
    int signal = signal(completion, frame, length);
    if (!Signal.isKnown(signal) || (receiveBuffers.hasEnded() && length > 0)) {
      receiveBuffers.drop(frame);
      failProtocol();
      return;
    }
    if (length > 0) {
      sendBuffers.meter().received(length);
    }
    int credits = Signal.credits(signal);
    if (!receiveBuffers.arrived(frame, length, Signal.isEnd(signal))
        || !(Signal.isBack(signal)
            ? receiveBuffers.givenBack(credits)
            : sendBuffers.addCredits(credits))) {
      failProtocol();
    }
  }

  /** Returns the signal of a message; an unknown one if it has none. */
  private int signal(WorkCompletion completion, ByteBuf frame, int length) {
    if (!trails) {
      return completion.hasImmediate() ? completion.immediate() : Signal.NONE;
    }
    return length < 0 ? Signal.NONE : SignalTrailers.read(frame, completion.byteLength());
  }

  /** Discards received messages and ends the connection at once. */
  private void failProtocol() {
    stream.discard();
    stream.fail(
        new IOException("the peer " + stream.peer() + " does not keep to the protocol"), null);
  }

  /** The HCA takes no receive of this stream's. */
  void failReceives(Throwable why) {
    stream.fail(new IOException(stream.brokenBecause("the HCA takes no more receives"), why), null);
  }

  /** Returns whether a receive was flushed: all before it have completed. */
  boolean isFlushed() {
    return flushed;
  }

  /** The duty cycle ends: what was not read leaves the frames of receives. */
  void keepUnread() {
    try {
      receiveBuffers.keepUnread();
    } catch (VerbsException | RdmaException e) {
      failReceives(e);
    }
  }

  /** Returns the credits of bytes that were read, unless the next message does. */
  void returnCredits() {
    if (receiveBuffers.owesMuch() && sendBuffers.canReturn()) {
      sendBuffers.returnCredits(receiveBuffers.takeOwed());
    }
  }
}
