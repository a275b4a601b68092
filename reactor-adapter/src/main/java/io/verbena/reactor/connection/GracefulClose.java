// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.receive.ImmediateReceiver;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.send.MessageSender;

/**
 * The graceful close: each end sends a CLOSE behind all else, and neither disconnects before both
 * are there.
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
 * What each state does in every turn:
 *
 * <pre>
 *            own CLOSE is sent once all operations are done   what the peer sent
 *   LEAVING                                                   goes to its subscriber; without one it
 *                                                             is dropped once all operations are
 *                                                             done, and CLOSE says STOP
 *   LEFT     and a subscriber, if any, has taken what came    is all there: receivers end
 *   PARTING                                                   is all there: receivers end
 * </pre>
 *
 * A peer that said STOP drops what comes: sends that might ask for more messages fail, so that one
 * without an end ends too. Where somebody receives there, it does not say so, and its program has
 * to end them, by {@link EndSignals#onPeerClosing}.
 *
 * <p>One deadline of {@link Deadlines} bounds this, and once more the flush that follows. Only on
 * the loop.
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

  /** Whether the peer said STOP, and the sends have not failed yet. */
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

  /** This end takes no more operations. */
  void closeHere() {
    if (!isClosedHere()) {
      state = state == State.OPEN ? State.LEAVING : State.PARTING;
      start();
    }
  }

  /**
   * The peer sends no more messages.
   *
   * @param stop whether it drops what is sent to it
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

  /** Returns whether there is something to advance. */
  boolean isUnderway() {
    return state != State.OPEN;
  }

  /** Advances the close as far as possible; returns whether it is over. */
  boolean advance(MessageSender out, OneSidedOperations operations) {
    if (isClosedByPeer()) {
      // Before the state is looked at: a receiver that ends may close or send.
      receiver.end(null);
      immediates.end(null);
      signals.tellPeerClosing();
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
      // No subscriber takes what the peer still sends; neither end must wait for that.
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
    // Also what is in flight: once both CLOSEs are there either end may disconnect, which flushes
    // it.
    return out.isIdle() && operations.isDone();
  }
}
