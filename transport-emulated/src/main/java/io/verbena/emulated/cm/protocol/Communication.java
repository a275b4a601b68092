// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.lock.LockProof;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, from the first request to the end of its time-wait (IBTA volume 1,
 * communication establishment and release). How it is established, {@link ActiveCommunication} and
 * {@link PassiveCommunication} show; what follows is the same at both ends:
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
 *               REQ, REP, RTU         its REJ, if that is how it ended
 *               alarm                 -              gone
 *  REQ_, REP_*  reject(), disconnect() REJ           TIME_WAIT
 * </pre>
 *
 * What is sent and not answered is sent again, at first soon and then ever later. The user is told
 * one end: rejected, unreachable or disconnected; nothing after it has given up itself.
 *
 * <p>With a {@link LockHandshake}, what does not prove that it is from the peer changes no state
 * from REP on; and nobody gets so far who has not the key.
 */
public abstract sealed class Communication permits ActiveCommunication, PassiveCommunication {
  /** Bytes of a REP's private data that a lock takes. */
  public static final int REPLY_ROOM_OF_LOCK = LockHandshake.REPLY_ROOM;

  /** The same of a REJ. */
  public static final int PROOF_OF_LOCK = LockProof.LENGTH;

  static final long FIRST_RETRY = 20 * RetryTimer.MILLI;
  static final long LAST_RETRY = 500 * RetryTimer.MILLI;

  /** How long a passive end waits for RTU, and an active end repeats it. */
  static final long REPLY_PATIENCE = 10_000 * RetryTimer.MILLI;

  private static final long DISCONNECT_PATIENCE = 2_000 * RetryTimer.MILLI;

  /** Longer than a packet stays under way, and longer than anybody sends again. */
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

  /** What is sent again until it is answered; in TIME_WAIT, the REJ that ended it. */
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

  /** The queue pair at this end, once it is known; else 0. */
  final int localQueuePair() {
    return localQueuePair;
  }

  final boolean isDisconnecting() {
    return state == State.DREQ_SENT;
  }

  // ---- what the user does

  /** Whether both ends prove who they are. */
  public final boolean isLocked() {
    return messages.lock() != null;
  }

  /** What seals the packets, once {@linkplain CmUser#replied replied} or prepared; or null. */
  public final @Nullable PacketLock packets() {
    LockHandshake lock = messages.lock();
    return lock == null ? null : lock.packets();
  }

  /**
   * Passive end: makes ready to {@linkplain #accept accept} by this reply, so that {@link #packets}
   * are sealed before the peer sends any. For who accepts next, also without having entered.
   */
  public void prepare(Reply reply) {}

  /**
   * Passive end: accepts. Does nothing if the peer has given up meanwhile.
   *
   * @param reply whose ids and transaction are filled in here; with a lock, the one that was
   *     {@linkplain #prepare prepared}
   */
  public void accept(Reply reply) {}

  /**
   * Active end, after {@link CmUser#replied}: says that the queue pair is ready.
   *
   * @return whether it is established; if not, the peer has given up, and the user is told that
   */
  public boolean ready() {
    return false;
  }

  /**
   * Either end, in whatever state: refuses the connection, or gives it up. A peer to which it is
   * established by now, which the user may not have taken note of, is told by a DREQ. The user is
   * told nothing more.
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
   * Either end: ends the connection, or rejects it if it is not established. The user is told
   * nothing more.
   */
  public final void disconnect() {
    reject(CmReason.CONSUMER_DEFINED, Mad.noData(0));
  }

  // ---- what the peer says

  /**
   * Whether a message may change anything. Before there are keys of the connection, and of an end
   * that may not have them, none can be asked for.
   */
  final boolean isGenuine(CmMessage message) {
    return switch (state) {
      case REQ_SENT, REQ_RECEIVED, REP_SENT ->
          message instanceof Reject || messages.admits(message);
      case REP_RECEIVED, ESTABLISHED, DREQ_SENT, TIME_WAIT, GONE -> messages.admits(message);
    };
  }

  /** A message with the id of this end has come, so that the peer has taken one. */
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
          end(null, told -> told.rejected(messages.forProgram(reject)));
      case ESTABLISHED -> {
        // The peer gave up before it heard that this end is ready; by then it knows both ids.
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

  /** The peer's process is gone, and answers nothing any more. */
  final void departed() {
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT ->
          end(null, told -> told.unreachable(ConnectionEvent.NO_HCA));
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

  /** Sends a message, unless nothing more may go to a peer that may not be who it says. */
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

  /** What was sent is not to be sent again. */
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
        // An RTU that has come is not answered: no more of it than eight, over all that time.
        // Nor are there many for a peer that may not be there.
        boolean seldom = state == State.ESTABLISHED || !limit.isProven();
        timer.backOff(seldom ? REPLY_PATIENCE : LAST_RETRY);
        sleep();
      }
    }
  }

  /** For who is about to ask again: whether there is nobody to ask. */
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

  final void tell(Consumer<CmUser> event) {
    CmUser told = user;
    if (told != null) {
      event.accept(told);
    }
  }

  /**
   * Ends it, and tells the user so.
   *
   * @param reject that was sent to the peer, or null
   */
  final void end(@Nullable Reject reject, Consumer<CmUser> event) {
    CmUser told = user;
    waitOut(reject);
    if (told != null) {
      event.accept(told);
    }
  }

  private void giveUp(int why) {
    end(sendReject(CmReason.TIMEOUT, Mad.noData(0)), told -> told.unreachable(why));
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
