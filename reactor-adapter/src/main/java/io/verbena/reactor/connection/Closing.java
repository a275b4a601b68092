package io.verbena.reactor.connection;

import io.verbena.core.loop.CompletionLoop;

/**
 * The graceful close: each end sends a CLOSE behind all else, and neither disconnects before both
 * are there.
 *
 * <pre>
 *          closed here                CLOSE came
 *   OPEN --------------> LEAVING ------------------> PARTING
 *    |                                               ^     |
 *    |   CLOSE came                   closed here    |     | own CLOSE is with the peer
 *    +--------------> LEFT --------------------------+     v
 *                       |                                 over
 *                       +----own CLOSE is with the peer---^
 * </pre>
 *
 * What each state does in every turn:
 *
 * <pre>
 *            own CLOSE is sent once all operations are done   what the peer sent
 *   LEAVING                                                   goes to its subscriber; without one it
 *                                                             is discarded once CLOSE is sent
 *   LEFT     and a subscriber, if any, has taken what came    is all there: receivers end
 *   PARTING                                                   is all there: receivers end
 * </pre>
 *
 * One deadline bounds this, and once more the flush that follows. Only on the loop.
 */
final class Closing {
  private enum State {
    OPEN,
    LEAVING,
    LEFT,
    PARTING
  }

  private final Connection connection;
  private final CompletionLoop loop;
  private final Inbound inbound;
  private final Immediates immediates;
  private final int mostTicks;
  private State state = State.OPEN;
  private boolean timed;
  private int since;

  /**
   * @param mostTicks how long the close may take, and then the flush
   */
  Closing(Connection connection, Inbound inbound, Immediates immediates, int mostTicks) {
    this.connection = connection;
    this.inbound = inbound;
    this.immediates = immediates;
    this.mostTicks = mostTicks;
    loop = connection.loop();
  }

  // ---- events

  /** This end takes no more operations. */
  void closeHere() {
    if (!isClosedHere()) {
      state = state == State.OPEN ? State.LEAVING : State.PARTING;
      start();
    }
  }

  /** The peer sends no more messages. */
  void closeCame() {
    if (!isClosedByPeer()) {
      state = state == State.OPEN ? State.LEFT : State.PARTING;
      start();
    }
  }

  private void start() {
    if (!timed) {
      restartDeadline();
    }
    connection.endTurnLater();
  }

  // ---- state

  boolean isClosedHere() {
    return state == State.LEAVING || state == State.PARTING;
  }

  boolean isClosedByPeer() {
    return state == State.LEFT || state == State.PARTING;
  }

  /** Whether there is something to advance. */
  boolean isUnderway() {
    return state != State.OPEN;
  }

  /** Goes on as far as may be; answers whether it is over. */
  boolean advance(Outbound out) {
    if (isClosedByPeer()) {
      // Before the state is looked at: a receiver that ends may close or send.
      inbound.end(null);
      immediates.end(null);
    }
    return switch (state) {
      case OPEN -> false;
      case LEAVING -> leave(out);
      case LEFT -> follow(out);
      case PARTING -> part(out);
    };
  }

  private boolean leave(Outbound out) {
    if (isDone(out)) {
      out.close();
    }
    if (out.isCloseSent() && !inbound.hasSubscriber()) {
      // Nobody is there to take what the peer still sends; it must not wait for that.
      inbound.discard();
    }
    return false;
  }

  private boolean follow(Outbound out) {
    if (isDone(out) && (inbound.isEmpty() || !inbound.hasSubscriber())) {
      out.close();
    }
    return out.isCloseArrived();
  }

  private boolean part(Outbound out) {
    if (isDone(out)) {
      out.close();
    }
    return out.isCloseArrived();
  }

  private boolean isDone(Outbound out) {
    // Also what is in flight: once both CLOSEs are there either end may disconnect, which flushes
    // it.
    return out.isIdle() && connection.isOneSidedDone();
  }

  // ---- the deadline

  /** It runs from now, for the close or for the flush. */
  void restartDeadline() {
    since = loop.tick();
    if (!timed) {
      timed = true;
      loop.pending(1);
    }
  }

  /** Whether it has passed. */
  boolean isOverdue() {
    return timed && loop.tick() - since > mostTicks;
  }

  /** There is nothing left to wait for. */
  void stopDeadline() {
    if (timed) {
      timed = false;
      loop.pending(-1);
    }
  }
}
