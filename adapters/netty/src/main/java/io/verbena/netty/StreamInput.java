// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;

/**
 * The receiving half of a stream. It takes messages and their {@link ControlWord control words}
 * from completed receives, and returns the peer's credits. On the event loop's thread only.
 */
final class StreamInput {
  private final Stream stream;
  private final StreamReceiveQueue receiveBuffers;
  private final StreamSendQueue sendBuffers;

  /**
   * Whether control words follow the bytes of messages, because the device has no immediate data.
   */
  private final boolean trails;

  /** Whether a receive was flushed: all before it have completed. */
  private boolean flushed;

  /**
   * @param stream breaks if the peer violates the protocol, or the HCA takes no more receives
   * @param sendBuffers returns the peer's credits, and gets those that the peer returns
   */
  StreamInput(
      Stream stream,
      StreamReceiveQueue receiveBuffers,
      StreamSendQueue sendBuffers,
      boolean trails) {
    this.stream = stream;
    this.receiveBuffers = receiveBuffers;
    this.sendBuffers = sendBuffers;
    this.trails = trails;
  }

  /** Handles a completed receive; takes its frame over, and throws nothing. */
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
    int length = completion.byteLength() - (trails ? ControlTrailers.LENGTH : 0);
    int control = control(completion, frame, length);
    if (!ControlWord.isKnown(control) || (receiveBuffers.hasEnded() && length > 0)) {
      receiveBuffers.drop(frame);
      failProtocol();
      return;
    }
    if (length > 0) {
      sendBuffers.meter().received(length);
    }
    int credits = ControlWord.credits(control);
    if (!receiveBuffers.arrived(frame, length, ControlWord.isEnd(control))
        || !(ControlWord.isBack(control)
            ? receiveBuffers.givenBack(credits)
            : sendBuffers.addCredits(credits))) {
      failProtocol();
    }
  }

  /** Returns the control word of a message; {@link ControlWord#NONE} if it has none. */
  private int control(WorkCompletion completion, ByteBuf frame, int length) {
    if (!trails) {
      return completion.hasImmediate() ? completion.immediate() : ControlWord.NONE;
    }
    return length < 0 ? ControlWord.NONE : ControlTrailers.read(frame, completion.byteLength());
  }

  /** Discards received messages and ends the connection at once. */
  private void failProtocol() {
    stream.discard();
    stream.fail(
        new IOException("the peer " + stream.peer() + " does not keep to the protocol"), null);
  }

  /** Breaks the stream, because the HCA takes no more receives of it. */
  void failReceives(Throwable why) {
    stream.fail(new IOException(stream.brokenBecause("the HCA takes no more receives"), why), null);
  }

  /** Returns whether a receive was flushed: all before it have completed. */
  boolean isFlushed() {
    return flushed;
  }

  /** Moves unread messages out of the receives, at the end of the duty cycle. */
  void keepUnread() {
    try {
      receiveBuffers.keepUnread();
    } catch (VerbsException | RdmaException e) {
      failReceives(e);
    }
  }

  /** Returns the credits of read messages, if enough are owed to do so without bytes to send. */
  void returnCredits() {
    try {
      receiveBuffers.giveBackFirst();
    } catch (VerbsException | RdmaException e) {
      failReceives(e);
      return;
    }
    if (receiveBuffers.owesMuch() && sendBuffers.canReturn()) {
      sendBuffers.returnCredits(receiveBuffers.takeOwed());
    }
  }
}
