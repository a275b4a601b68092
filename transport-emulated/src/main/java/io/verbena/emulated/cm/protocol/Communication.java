// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.crypto.SecretProof;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, from the first request to the end of its time-wait (IBTA volume 1,
 * communication establishment and release). {@link ActiveCommunication} and {@link
 * PassiveCommunication} show how a connection is established. The states after that are the same at
 * both ends:
 *
 * <pre>
 *  state        on                    sends          to
 *  ESTABLISHED  DREQ                  DREP           TIME_WAIT     user: disconnected
 *               REJ, with both ids    -              TIME_WAIT     user: disconnected
 *               disconnect, reject()  DREQ           DREQ_SENT
 *  DREQ_SENT    DREP, REJ, deadline   -              TIME_WAIT
 *               DREQ                  DREP           TIME_WAIT
 *  any          its process is gone   -              TIME_WAIT     user: unreachable, disconnected
 *  TIME_WAIT    DREQ                  DREP
 *               REQ, REP, RTU         the REJ that ended the connection, if any
 *               alarm                 -              GONE
 *  REQ_, REP_*  reject(), disconnect() REJ           TIME_WAIT
 * </pre>
 *
 * An unanswered message is sent again, first soon, then at growing intervals. The user gets exactly
 * one final event: rejected, unreachable or disconnected; and no event after it has itself given
 * up.
 *
 * <p>With a {@link CmKeyHandshake}, from REP on only messages with the peer's proof change a state;
 * a peer without the key gets no REP.
 */
public abstract sealed class Communication permits ActiveCommunication, PassiveCommunication {
  /** The number of bytes of a REP's private data that a lock uses. */
  public static final int REPLY_ROOM_OF_LOCK = CmKeyHandshake.REPLY_ROOM;

  /** The number of bytes of a REJ's private data that a lock uses. */
  public static final int PROOF_OF_LOCK = SecretProof.LENGTH;

  static final long FIRST_RETRY = 20 * RetryTimer.MILLI;
  static final long LAST_RETRY = 500 * RetryTimer.MILLI;

  /** The time for which a passive end waits for an RTU, and an active end repeats its RTU. */
  static final long REPLY_PATIENCE = 10_000 * RetryTimer.MILLI;

  private static final long DISCONNECT_PATIENCE = 2_000 * RetryTimer.MILLI;

  /** Longer than any packet is in flight, and longer than any peer repeats a message. */
  private static final long TIME_WAIT = 4_000 * RetryTimer.MILLI;

  private static final int MOST_SERVICE_TIMEOUT = 18;
  private static final long UNIT_NANOS = 4096;

  enum State {
    REQ_SENT,
    REP_RECEIVED,
    REQ_RECEIVED,
    REP_SENT,
    ESTABLISHED,
    DREQ_SENT,
    TIME_WAIT,
    GONE
  }

  final CmAgent agent;
  final ConnectionMessages messages;
  final AmplificationLimit limit;
  final RetryTimer timer;
  State state;
  @Nullable CmUser user;
  int remoteQueuePair;
  int localQueuePair;

  private final Gid peer;

  /**
   * The message to repeat until it is answered; in TIME_WAIT, the REJ that ended the connection.
   */
  private @Nullable CmMessage outgoing;

  Communication(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      ConnectionMessages messages,
      AmplificationLimit limit,
      State state) {
    this.agent = agent;
    this.peer = peer;
    this.messages = messages;
    this.limit = limit;
    this.state = state;
    timer = new RetryTimer(timeline, this::alarm);
  }

  final Gid peer() {
    return peer;
  }

  final int localId() {
    return messages.localId();
  }

  final int remoteId() {
    return messages.remoteId();
  }

  /** Returns the queue pair at this end, or 0 while it is unknown. */
  final int localQueuePair() {
    return localQueuePair;
  }

  final boolean isDisconnecting() {
    return state == State.DREQ_SENT;
  }

  // ---- calls of the user

  /** Returns whether the connection is locked: both ends prove that they have the key. */
  public final boolean isLocked() {
    return messages.handshake() != null;
  }

  /**
   * Returns the cipher that seals the packets, after {@link CmUser#replied} or {@link #prepare};
   * null before that, or without a lock.
   */
  public final @Nullable PacketCipher packets() {
    CmKeyHandshake handshake = messages.handshake();
    return handshake == null ? null : handshake.packets();
  }

  /**
   * Passive end: prepares to {@linkplain #accept accept} with this reply, so that the {@link
   * #packets} lock exists before the peer sends packets. Called by the thread that will accept,
   * which need not have entered the fabric.
   */
  public void prepare(Reply reply) {}

  /**
   * Passive end: accepts the connection. Does nothing if the peer has given up meanwhile.
   *
   * @param reply the reply, whose ids and transaction this fills in; with a lock, the {@linkplain
   *     #prepare prepared} one
   */
  public void accept(Reply reply) {}

  /**
   * Active end, after {@link CmUser#replied}: notes that the queue pair is ready.
   *
   * @return whether the connection is established; if not, the peer has given up, and the user gets
   *     that event
   */
  public boolean ready() {
    return false;
  }

  /**
   * Either end, in any state: rejects the connection, or gives it up. Sends a DREQ if this end is
   * established already, which the user may not know yet. The user gets no further events.
   *
   * @param reason see {@link CmReason}
   * @param privateData at most {@link Mad#REJECT_DATA} bytes
   */
  public final void reject(int reason, ByteBuffer privateData) {
    user = null;
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT ->
          waitOut(sendReject(reason, privateData));
      case ESTABLISHED -> {
        state = State.DREQ_SENT;
        send(
            messages.disconnect(agent.nextTransaction(), remoteQueuePair),
            DISCONNECT_PATIENCE,
            FIRST_RETRY);
      }
      case DREQ_SENT, TIME_WAIT, GONE -> {}
    }
  }

  /**
   * Either end: ends the connection, or rejects it if it is not established. The user gets no
   * further events.
   */
  public final void disconnect() {
    reject(CmReason.CONSUMER_DEFINED, Mad.noData(0));
  }

  // ---- messages of the peer

  /**
   * Returns whether a message may change the state. A proof cannot be required while this
   * connection has no keys, nor of a REJ from a peer that may not have the keys.
   */
  final boolean isGenuine(CmMessage message) {
    return switch (state) {
      case REQ_SENT, REQ_RECEIVED, REP_SENT ->
          message instanceof Reject || messages.admits(message);
      case REP_RECEIVED, ESTABLISHED, DREQ_SENT, TIME_WAIT, GONE -> messages.admits(message);
    };
  }

  /**
   * Notes that a message with the id of this end has arrived, so that the peer has received a
   * message.
   */
  void proven() {}

  void received(Reply reply) {
    rejectAgain();
  }

  void receivedReady() {
    rejectAgain();
  }

  private void rejectAgain() {
    if (state == State.TIME_WAIT) {
      emitAgain();
    }
  }

  final void received(Receipt receipt) {
    boolean ofRequest = state == State.REQ_SENT && receipt.received() == Answered.REQUEST;
    if (ofRequest || (state == State.REP_SENT && receipt.received() == Answered.REPLY)) {
      timer.delay(UNIT_NANOS << Math.min(receipt.serviceTimeout(), MOST_SERVICE_TIMEOUT));
      sleep();
    }
  }

  final void received(Reject reject) {
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT ->
          end(null, to -> to.rejected(messages.forProgram(reject)));
      case ESTABLISHED -> {
        // The peer gave up before it learned that this end is ready. By then it knows both ids.
        if (reject.remoteId() == localId() && reject.localId() == remoteId()) {
          end(null, CmUser::disconnected);
        }
      }
      case DREQ_SENT -> waitOut(null);
      case TIME_WAIT, GONE -> {}
    }
  }

  final void received(DisconnectRequest request) {
    switch (state) {
      case REP_SENT, ESTABLISHED, DREQ_SENT, TIME_WAIT -> {
        if (state == State.REP_SENT) {
          receivedReady();
        }
        emit(messages.disconnected(request));
        if (state != State.TIME_WAIT) {
          end(null, CmUser::disconnected);
        }
      }
      default -> {}
    }
  }

  final void receivedDisconnected() {
    if (state == State.DREQ_SENT) {
      waitOut(null);
    }
  }

  /** Ends the connection, since the peer's process is gone. */
  final void departed() {
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT ->
          end(null, to -> to.unreachable(ConnectionEvent.NO_HCA));
      case ESTABLISHED -> end(null, CmUser::disconnected);
      case DREQ_SENT -> waitOut(null);
      case TIME_WAIT, GONE -> {}
    }
  }

  // ---- sending, and sending again

  final void send(CmMessage message, long patience, long firstRetry) {
    outgoing = message;
    timer.begin(patience, firstRetry);
    emit(message);
    sleep();
  }

  /** Sends a message, unless the amplification limit is reached. */
  final void emit(CmMessage message) {
    if (limit.take()) {
      agent.send(message, peer);
    }
  }

  final void emitAgain() {
    if (outgoing != null) {
      emit(outgoing);
    }
  }

  /** Notes that the outgoing message is answered, so that it is not sent again. */
  final void answered() {
    timer.cancel();
    outgoing = null;
  }

  private void sleep() {
    if (limit.isReached()) {
      timer.sleepToDeadline();
    } else {
      timer.sleep();
    }
  }

  private void alarm() {
    if (state == State.TIME_WAIT) {
      abandon();
    } else if (state == State.REQ_RECEIVED) {
      tooLate();
    } else if (outgoing != null) {
      if (timer.isOver()) {
        tooLate();
      } else if (isPeerAbsent()) {
        giveUp(ConnectionEvent.NO_HCA);
      } else {
        emitAgain();
        // An RTU has no answer, so it is repeated at most eight times in all that time. Messages to
        // an unproven peer are repeated as seldom.
        boolean seldom = state == State.ESTABLISHED || !limit.isProven();
        timer.backOff(seldom ? REPLY_PATIENCE : LAST_RETRY);
        sleep();
      }
    }
  }

  /** Returns whether the peer is certainly absent; called before a message is sent again. */
  boolean isPeerAbsent() {
    return false;
  }

  final void tooLate() {
    switch (state) {
      case ESTABLISHED -> outgoing = null;
      case DREQ_SENT -> waitOut(null);
      default -> giveUp(ConnectionEvent.TIMED_OUT);
    }
  }

  // ---- the end

  final void notifyUser(Consumer<CmUser> event) {
    CmUser to = user;
    if (to != null) {
      event.accept(to);
    }
  }

  /**
   * Ends the connection and notifies the user.
   *
   * @param reject the REJ that was sent to the peer, or null
   */
  final void end(@Nullable Reject reject, Consumer<CmUser> event) {
    CmUser to = user;
    waitOut(reject);
    if (to != null) {
      event.accept(to);
    }
  }

  private void giveUp(int why) {
    end(sendReject(CmReason.TIMEOUT, Mad.noData(0)), to -> to.unreachable(why));
  }

  final Reject sendReject(int reason, ByteBuffer privateData) {
    Answered answered =
        switch (state) {
          case REQ_RECEIVED -> Answered.REQUEST;
          case REP_RECEIVED -> Answered.REPLY;
          default -> Answered.OTHER;
        };
    long information = reason == CmReason.TIMEOUT ? agent.guid() : 0;
    Reject reject = messages.reject(answered, reason, information, privateData);
    emit(reject);
    return reject;
  }

  void waitOut(@Nullable Reject reject) {
    state = State.TIME_WAIT;
    user = null;
    outgoing = reject;
    agent.waits(this);
    timer.await(TIME_WAIT);
  }

  /** Ends the time-wait. */
  final void abandon() {
    state = State.GONE;
    timer.cancel();
    limit.giveBack();
    agent.forget(this);
  }
}
