// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.receive.ImmediateReceiver;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.send.MessageSender;

/**
 * The graceful close: each end sends a CLOSE after all its messages, and neither end disconnects
 * before both have arrived.
 *
 * <pre>{@code
 *        closed here                CLOSE came
 * OPEN --------------> LEAVING ------------------> PARTING
 *  |                                               ^     |
 *  |   CLOSE came                   closed here    |     | own CLOSE is with the peer
 *  +--------------> LEFT --------------------------+     v
 *                     |                                 over
 *                     +----own CLOSE is with the peer---^
 * }</pre>
 *
 * Actions in each state, in every duty cycle:
 *
 * <pre>
 *            sends its CLOSE when                        messages of the peer
 *   LEAVING  all operations are done                     go to the subscriber; without one they are
 *                                                        dropped once all operations are done, and
 *                                                        the CLOSE says STOP
 *   LEFT     all operations are done, and a subscriber,  have all arrived: receivers end
 *            if any, has taken all messages
 *   PARTING  all operations are done                     have all arrived: receivers end
 * </pre>
 *
 * A peer that sent STOP drops further messages. Sends that may request more messages fail then, so
 * that a send without an end ends too. A peer whose program still receives does not send STOP: the
 * sending program has to end such sends, on {@link EndSignals#onPeerClosing}.
 *
 * <p>A deadline of {@link Deadlines} bounds the close, and another one the flush that follows. Only
 * on the loop.
 */
final class GracefulClose {
  private enum State {
    OPEN,
    LEAVING,
    LEFT,
    PARTING
  }

  private final DutyCycleEnd turn;
  private final Deadlines deadlines;
  private final MessageReceiver receiver;
  private final ImmediateReceiver immediates;
  private final EndReason reason;
  private final EndSignals signals;
  private State state = State.OPEN;

  /** Whether STOP has arrived, and the sends are still to be failed. */
  private boolean stopCame;

  GracefulClose(
      DutyCycleEnd turn,
      Deadlines deadlines,
      MessageReceiver receiver,
      ImmediateReceiver immediates,
      EndReason reason,
      EndSignals signals) {
    this.turn = turn;
    this.deadlines = deadlines;
    this.receiver = receiver;
    this.immediates = immediates;
    this.reason = reason;
    this.signals = signals;
  }

  // ---- events

  /** Begins to close at this end, which takes no more operations. */
  void closeHere() {
    if (!isClosedHere()) {
      state = state == State.OPEN ? State.LEAVING : State.PARTING;
      start();
    }
  }

  /**
   * Handles a CLOSE, after which the peer sends no more messages.
   *
   * @param stop whether the peer drops further messages
   */
  void closeCame(boolean stop) {
    stopCame |= stop;
    if (!isClosedByPeer()) {
      state = state == State.OPEN ? State.LEFT : State.PARTING;
      start();
    }
  }

  private void start() {
    deadlines.startClose();
    turn.ask();
  }

  // ---- state

  boolean isClosedHere() {
    return state == State.LEAVING || state == State.PARTING;
  }

  boolean isClosedByPeer() {
    return state == State.LEFT || state == State.PARTING;
  }

  /** Returns whether either end has begun to close. */
  boolean isUnderway() {
    return state != State.OPEN;
  }

  /** Advances the close as far as possible; returns whether it is over. */
  boolean advance(MessageSender out, OneSidedOperations operations) {
    if (isClosedByPeer()) {
      // Before the switch: the subscriber of a receiver that ends may close or send.
      receiver.end(null);
      immediates.end(null);
      signals.signalPeerClosing();
      if (stopCame) {
        stopCame = false;
        out.stop(reason.stopped());
      }
    }
    return switch (state) {
      case OPEN -> false;
      case LEAVING -> leave(out, operations);
      case LEFT -> follow(out, operations);
      case PARTING -> part(out, operations);
    };
  }

  private boolean leave(MessageSender out, OneSidedOperations operations) {
    if (isDone(out, operations)) {
      out.close();
    }
    if (out.isCloseWanted() && !receiver.hasSubscriber()) {
      // No subscriber takes the peer's further messages; neither end must wait for that.
      receiver.discard();
      out.askToStop();
    }
    return false;
  }

  private boolean follow(MessageSender out, OneSidedOperations operations) {
    if (isDone(out, operations) && (receiver.isEmpty() || !receiver.hasSubscriber())) {
      out.close();
    }
    return out.isCloseArrived();
  }

  private boolean part(MessageSender out, OneSidedOperations operations) {
    if (isDone(out, operations)) {
      out.close();
    }
    return out.isCloseArrived();
  }

  private static boolean isDone(MessageSender out, OneSidedOperations operations) {
    // Requests in flight included: once both CLOSEs have arrived, either end may disconnect, which
    // flushes them.
    return out.isIdle() && operations.isDone();
  }
}
