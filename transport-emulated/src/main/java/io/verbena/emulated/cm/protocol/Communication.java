// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, from the first request to the end of its time-wait (IBTA volume 1,
 * communication establishment and release).
 *
 * <pre>
 *  state        on                    sends          to
 *  REQ_SENT     REP                   -              REP_RECEIVED  user: replied
 *               MRA                   -              (waits as long as it says before the next REQ)
 *               REJ                   -              TIME_WAIT     user: rejected
 *               deadline              REJ            TIME_WAIT     user: unreachable
 *  REP_RECEIVED ready()               RTU            ESTABLISHED
 *               REJ                   -              TIME_WAIT     user: rejected
 *  REQ_RECEIVED the REQ again         MRA
 *               accept()              REP            REP_SENT
 *               REJ                   -              TIME_WAIT     user: rejected
 *  REP_SENT     RTU, a packet         -              ESTABLISHED   user: established
 *               the REQ again         REP
 *               REJ                   -              TIME_WAIT     user: rejected
 *               deadline              REJ            TIME_WAIT     user: unreachable
 *               DREQ                  DREP           TIME_WAIT     user: established, disconnected
 *  ESTABLISHED  REP again             RTU
 *               DREQ                  DREP           TIME_WAIT     user: disconnected
 *               REJ, with both ids    -              TIME_WAIT     user: disconnected
 *               disconnect, reject()  DREQ           DREQ_SENT
 *  DREQ_SENT    DREP, REJ, deadline   -              TIME_WAIT
 *               DREQ                  DREP           TIME_WAIT
 *  TIME_WAIT    DREQ                  DREP
 *               REQ, REP again        its REJ, if that is how it ended
 *               alarm                 -              gone
 *  REQ_, REP_*  reject()              REJ            TIME_WAIT
 * </pre>
 *
 * What is sent and not answered is sent again, at first soon and then ever later. The user is told
 * one end: rejected, unreachable or disconnected; nothing after it has given up itself.
 */
public final class Communication {
  private static final long MILLI = 1_000_000;
  private static final long FIRST_RETRY = 20 * MILLI;
  private static final long LAST_RETRY = 500 * MILLI;

  /** How long a passive end waits for RTU, and either for DREP. */
  private static final long REPLY_PATIENCE = 10_000 * MILLI;

  private static final long DISCONNECT_PATIENCE = 2_000 * MILLI;

  /** Longer than a packet stays under way, and longer than anybody sends again. */
  private static final long TIME_WAIT = 4_000 * MILLI;

  /** The program takes its time: 4.096 us times 2 to the power of it is 269 ms. */
  private static final int SERVICE_TIMEOUT = 16;

  private static final int MOST_SERVICE_TIMEOUT = 18;
  private static final long UNIT_NANOS = 4096;

  private enum State {
    REQ_SENT,
    REP_RECEIVED,
    REQ_RECEIVED,
    REP_SENT,
    ESTABLISHED,
    DREQ_SENT,
    TIME_WAIT,
    GONE
  }

  private final CmAgent agent;
  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private final Gid peer;
  private final int localId;
  private final boolean active;
  private final long transaction;
  private State state;
  private @Nullable CmUser user;
  private int remoteId;
  private int remoteQueuePair;
  private int localQueuePair;
  private long deadline;
  private long retryDelay;

  /** What is sent again until it is answered; in TIME_WAIT, the REJ that ended it. */
  private @Nullable CmMessage outgoing;

  private @Nullable ReadyToUse ready;

  private Communication(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      int localId,
      boolean active,
      long transaction,
      State state) {
    this.agent = agent;
    this.timeline = timeline;
    this.peer = peer;
    this.localId = localId;
    this.active = active;
    this.transaction = transaction;
    this.state = state;
    alarm = timeline.alarm(this::alarm);
  }

  static Communication active(
      CmAgent agent, Timeline timeline, Gid peer, Request request, CmUser user) {
    Communication made =
        new Communication(
            agent,
            timeline,
            peer,
            request.localId(),
            /* active= */ true,
            request.transaction(),
            State.REQ_SENT);
    made.user = user;
    made.localQueuePair = request.queuePair();
    return made;
  }

  static Communication passive(
      CmAgent agent, Timeline timeline, Gid peer, int localId, Request request) {
    Communication made =
        new Communication(
            agent,
            timeline,
            peer,
            localId,
            /* active= */ false,
            request.transaction(),
            State.REQ_RECEIVED);
    made.remoteId = request.localId();
    made.remoteQueuePair = request.queuePair();
    return made;
  }

  void user(CmUser owner) {
    user = owner;
  }

  Gid peer() {
    return peer;
  }

  int localId() {
    return localId;
  }

  int remoteId() {
    return remoteId;
  }

  boolean isPassive() {
    return !active;
  }

  /** The queue pair at this end, once it is known; else 0. */
  int localQueuePair() {
    return localQueuePair;
  }

  boolean isDisconnecting() {
    return state == State.DREQ_SENT;
  }

  void begin(Request request, long timeoutNanos) {
    send(request, timeoutNanos);
  }

  // ---- what the user does

  /**
   * Passive end: accepts. Does nothing if the peer has given up meanwhile.
   *
   * @param reply whose ids and transaction are filled in here
   */
  public void accept(Reply reply) {
    if (state != State.REQ_RECEIVED) {
      return;
    }
    state = State.REP_SENT;
    localQueuePair = reply.queuePair();
    agent.serves(this);
    send(
        new Reply(
            transaction,
            localId,
            remoteId,
            reply.queuePair(),
            reply.startingPsn(),
            reply.responderResources(),
            reply.initiatorDepth(),
            reply.rnrRetry(),
            reply.guid(),
            reply.privateData()),
        REPLY_PATIENCE);
  }

  /**
   * Active end, after {@link CmUser#replied}: says that the queue pair is ready.
   *
   * @return whether it is established; if not, the peer has given up, and the user is told that
   */
  public boolean ready() {
    if (state != State.REP_RECEIVED) {
      return false;
    }
    state = State.ESTABLISHED;
    ReadyToUse message =
        new ReadyToUse(
            transaction, localId, remoteId, Mad.padded(ByteBuffer.allocate(0), Mad.READY_DATA));
    ready = message;
    agent.send(message, peer);
    return true;
  }

  /**
   * Either end, in whatever state: refuses the connection, or gives it up. A peer to which it is
   * established by now, which the user may not have taken note of, is told by a DREQ. The user is
   * told nothing more.
   *
   * @param reason see {@link CmReason}
   * @param privateData at most {@link Mad#REJECT_DATA} bytes
   */
  public void reject(int reason, ByteBuffer privateData) {
    user = null;
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT -> endWith(reason, privateData);
      case ESTABLISHED -> disconnect();
      case DREQ_SENT, TIME_WAIT, GONE -> {}
    }
  }

  /** Either end: ends the connection. The user is told nothing more. */
  public void disconnect() {
    user = null;
    if (state == State.REP_SENT || state == State.ESTABLISHED) {
      state = State.DREQ_SENT;
      send(
          new DisconnectRequest(
              agent.nextTransaction(),
              localId,
              remoteId,
              remoteQueuePair,
              Mad.padded(ByteBuffer.allocate(0), Mad.DISCONNECT_DATA)),
          DISCONNECT_PATIENCE);
    }
  }

  // ---- what the peer says

  void received(Reply reply) {
    switch (state) {
      case REQ_SENT -> {
        state = State.REP_RECEIVED;
        alarm.cancel();
        outgoing = null;
        remoteId = reply.localId();
        remoteQueuePair = reply.queuePair();
        tellReplied(reply);
      }
      case ESTABLISHED -> {
        if (ready != null && reply.localId() == remoteId) {
          agent.send(ready, peer);
        }
      }
      case TIME_WAIT -> rejectAgain();
      default -> {}
    }
  }

  void receivedReady() {
    if (state == State.REP_SENT) {
      state = State.ESTABLISHED;
      alarm.cancel();
      outgoing = null;
      CmUser told = user;
      if (told != null) {
        told.established();
      }
    }
  }

  /** The request that it was made for has come again. */
  void receivedAgain() {
    switch (state) {
      case REQ_RECEIVED ->
          agent.send(
              new Receipt(
                  transaction,
                  localId,
                  remoteId,
                  Answered.REQUEST,
                  SERVICE_TIMEOUT,
                  Mad.padded(ByteBuffer.allocate(0), Mad.RECEIPT_DATA)),
              peer);
      case REP_SENT -> {
        if (outgoing != null) {
          agent.send(outgoing, peer);
        }
      }
      case TIME_WAIT -> rejectAgain();
      default -> {}
    }
  }

  void received(Receipt receipt) {
    boolean ofRequest = state == State.REQ_SENT && receipt.received() == Answered.REQUEST;
    if (ofRequest || (state == State.REP_SENT && receipt.received() == Answered.REPLY)) {
      retryDelay = UNIT_NANOS << Math.min(receipt.serviceTimeout(), MOST_SERVICE_TIMEOUT);
      sleep();
    }
  }

  void received(Reject reject) {
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT -> {
        CmUser told = user;
        waitOut(null);
        if (told != null) {
          told.rejected(reject);
        }
      }
      case ESTABLISHED -> {
        // The peer gave up before it heard that this end is ready; by then it knows both ids.
        if (reject.remoteId() == localId && reject.localId() == remoteId) {
          CmUser told = user;
          waitOut(null);
          if (told != null) {
            told.disconnected();
          }
        }
      }
      case DREQ_SENT -> waitOut(null);
      case TIME_WAIT, GONE -> {}
    }
  }

  void received(DisconnectRequest request) {
    switch (state) {
      case REP_SENT, ESTABLISHED, DREQ_SENT, TIME_WAIT -> {
        receivedReady();
        agent.send(
            new DisconnectReply(
                request.transaction(),
                localId,
                remoteId,
                Mad.padded(ByteBuffer.allocate(0), Mad.READY_DATA)),
            peer);
        if (state != State.TIME_WAIT) {
          CmUser told = user;
          waitOut(null);
          if (told != null) {
            told.disconnected();
          }
        }
      }
      default -> {}
    }
  }

  void receivedDisconnected() {
    if (state == State.DREQ_SENT) {
      waitOut(null);
    }
  }

  // ---- time

  private void send(CmMessage message, long patience) {
    outgoing = message;
    deadline = timeline.now() + patience;
    if (deadline < 0) {
      deadline = Long.MAX_VALUE;
    }
    retryDelay = FIRST_RETRY;
    agent.send(message, peer);
    sleep();
  }

  private void sleep() {
    alarm.set(Math.min(deadline, timeline.now() + retryDelay));
  }

  private void alarm() {
    if (state == State.TIME_WAIT) {
      state = State.GONE;
      agent.forget(this);
      return;
    }
    CmMessage again = outgoing;
    if (again == null) {
      return;
    }
    if (timeline.now() - deadline >= 0) {
      tooLate();
      return;
    }
    agent.send(again, peer);
    retryDelay = Math.min(2 * retryDelay, LAST_RETRY);
    sleep();
  }

  private void tooLate() {
    CmUser told = user;
    if (state == State.DREQ_SENT) {
      waitOut(null);
      return;
    }
    endWith(CmReason.TIMEOUT, ByteBuffer.allocate(0));
    if (told != null) {
      told.unreachable();
    }
  }

  private void endWith(int reason, ByteBuffer privateData) {
    Reject reject =
        new Reject(
            transaction,
            localId,
            remoteId,
            state == State.REQ_RECEIVED
                ? Answered.REQUEST
                : state == State.REP_RECEIVED ? Answered.REPLY : Answered.OTHER,
            reason,
            reason == CmReason.TIMEOUT ? agent.guid() : 0,
            Mad.padded(privateData, Mad.REJECT_DATA));
    agent.send(reject, peer);
    waitOut(reject);
  }

  private void rejectAgain() {
    if (outgoing != null) {
      agent.send(outgoing, peer);
    }
  }

  private void waitOut(@Nullable Reject reject) {
    state = State.TIME_WAIT;
    user = null;
    outgoing = reject;
    agent.waits(this);
    alarm.set(timeline.now() + TIME_WAIT);
  }

  /** Ends the time-wait early. */
  void abandon() {
    state = State.GONE;
    alarm.cancel();
    agent.forget(this);
  }

  private void tellReplied(Reply reply) {
    CmUser told = user;
    if (told != null) {
      told.replied(reply);
    }
  }
}
