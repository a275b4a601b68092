// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The passive end of a connection, until it is established.
 *
 * <pre>
 *  state        on                    sends          to
 *  REQ_RECEIVED the REQ again         MRA
 *               no REQ for long       REJ            TIME_WAIT     user: unreachable
 *               accept()              REP            REP_SENT
 *               REJ                   -              TIME_WAIT     user: rejected
 *  REP_SENT     RTU, a packet         -              ESTABLISHED   user: established
 *               the REQ again         REP
 *               REJ                   -              TIME_WAIT     user: rejected
 *               deadline              REJ            TIME_WAIT     user: unreachable
 *               DREQ                  DREP           TIME_WAIT     user: established, disconnected
 * </pre>
 *
 * The source address of a REQ may be forged; see {@link AmplificationLimit}.
 */
final class PassiveCommunication extends Communication {
  /**
   * The time for which an undecided request is kept after it was last received. A peer that still
   * waits for an answer repeats it more often: Linux every 5 s.
   */
  static final long DECISION_PATIENCE = 30_000 * RetryTimer.MILLI;

  /**
   * The time after which a connection with an unanswered REP may be ended to make room for another
   * one.
   */
  private static final long SILENCE = 2_000 * RetryTimer.MILLI;

  /** The time at which the first REP was sent. */
  private long replied;

  /** With a lock, the REP that {@link #prepare} created. */
  private @Nullable Reply prepared;

  PassiveCommunication(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      int localId,
      Request request,
      @Nullable CmKeyHandshake handshake,
      AmplificationLimit limit) {
    super(
        agent,
        timeline,
        peer,
        new ConnectionMessages(request.transaction(), localId, request.localId(), handshake),
        limit,
        State.REQ_RECEIVED);
    remoteQueuePair = request.queuePair();
    limit.asked();
  }

  /** Sets the user, which decides on the request, and starts the wait for the decision. */
  void user(CmUser owner) {
    user = owner;
    timer.await(DECISION_PATIENCE);
  }

  @Override
  public void prepare(Reply reply) {
    CmKeyHandshake handshake = messages.handshake();
    if (handshake != null) {
      prepared = handshake.prove(messages.reply(reply), agent.port());
    }
  }

  @Override
  public void accept(Reply reply) {
    if (state != State.REQ_RECEIVED) {
      return;
    }
    if (prepared == null) {
      prepare(reply);
    }
    state = State.REP_SENT;
    localQueuePair = reply.queuePair();
    replied = timer.now();
    agent.serves(this);
    send(
        prepared == null ? messages.reply(reply) : prepared,
        REPLY_PATIENCE,
        limit.isProven() ? FIRST_RETRY : LAST_RETRY);
  }

  @Override
  void proven() {
    if (limit.prove()) {
      agent.proven(this);
    }
  }

  @Override
  void receivedReady() {
    if (state != State.REP_SENT) {
      super.receivedReady();
      return;
    }
    proven();
    state = State.ESTABLISHED;
    answered();
    agent.established(this);
    notifyUser(CmUser::established);
  }

  /** Handles the repeated request of the peer. */
  void receivedAgain() {
    limit.asked();
    switch (state) {
      case REQ_RECEIVED -> {
        emit(messages.receipt());
        timer.await(DECISION_PATIENCE);
      }
      case REP_SENT, TIME_WAIT -> emitAgain();
      default -> {}
    }
  }

  /**
   * Ends this connection if its peer is silent, to make room for another one; returns whether it
   * was ended.
   */
  boolean endIfSilent() {
    if (timer.now() - replied < SILENCE) {
      return false;
    }
    tooLate();
    return true;
  }
}
