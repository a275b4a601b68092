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
import io.verbena.emulated.lock.LockProof;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.function.Function;
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
 *               deadline, no HCA      REJ            TIME_WAIT     user: unreachable
 *  REP_RECEIVED ready()               RTU            ESTABLISHED
 *               REJ                   -              TIME_WAIT     user: rejected
 *  REQ_RECEIVED the REQ again         MRA
 *               no REQ for long       REJ            TIME_WAIT     user: unreachable
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
 *  any          its process is gone   -              TIME_WAIT     user: unreachable, disconnected
 *               DREQ                  DREP           TIME_WAIT
 *  TIME_WAIT    DREQ                  DREP
 *               REQ, REP, RTU         its REJ, if that is how it ended
 *               alarm                 -              gone
 *  REQ_, REP_*  reject(), disconnect() REJ           TIME_WAIT
 * </pre>
 *
 * What is sent and not answered is sent again, at first soon and then ever later. An active end
 * sends RTU nine times, as nothing answers it. The user is told one end: rejected, unreachable or
 * disconnected; nothing after it has given up itself.
 *
 * <p>Who sends a REQ may not be who it says: until a message with the id of this end, or a packet
 * for its queue pair, has come, a passive end sends one message for each REQ, and {@value
 * #UNPAID_MESSAGES} more. That is a second REP, for a peer whose RTU was lost and who, like Linux,
 * sends it again only for a REP that comes again; or the REJ at the deadline, if there was none.
 * Where a peer at the same address has proven itself lately, it is {@value #KNOWN_UNPAID_MESSAGES},
 * ever less often: a second RTU may be lost, too. In either case no more than {@value
 * UnpaidMessages#MOST} of those are out to one address at once. All messages are of one size: so to
 * no address go more than twice the bytes that came from it, and of many requests hardly more than
 * came.
 *
 * <p>With a {@link LockHandshake}, what does not prove that it is from the peer changes no state
 * from REP on; and nobody gets so far who has not the key.
 */
public final class Communication {
  /** Bytes of a REP's private data that a lock takes. */
  public static final int REPLY_ROOM_OF_LOCK = LockHandshake.REPLY_ROOM;

  /** The same of a REJ. */
  public static final int PROOF_OF_LOCK = LockProof.LENGTH;

  private static final long MILLI = 1_000_000;
  private static final long FIRST_RETRY = 20 * MILLI;
  private static final long LAST_RETRY = 500 * MILLI;

  /** How long a passive end waits for RTU, and an active end repeats it. */
  private static final long REPLY_PATIENCE = 10_000 * MILLI;

  /**
   * How long a request that is neither accepted nor rejected is kept after it came last. Who still
   * waits for an answer asks more often: Linux every 5 s.
   */
  static final long DECISION_PATIENCE = 30_000 * MILLI;

  /** How long a REP is unanswered before its place goes to others, if they need it. */
  private static final long SILENCE = 2_000 * MILLI;

  /** Messages to a peer that may not be who it says, beyond those that it has asked for. */
  private static final int UNPAID_MESSAGES = 1;

  /** The same to an address that has proven itself lately. */
  private static final int KNOWN_UNPAID_MESSAGES = 4;

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

  /** Whether the peer has shown that it takes what is sent to it. */
  private boolean proven;

  /** The IP address that its request came from, of a passive end. */
  private final Gid address;

  /** Requests of a peer that is not {@link #proven} which have not been answered. */
  private int unanswered;

  /** Messages that may go to it besides, if {@link UnpaidMessages} are left, and that went. */
  private int mostUnpaid;

  private int unpaid;

  /** When the first REP was sent. */
  private long replied;

  /** What is sent again until it is answered; in TIME_WAIT, the REJ that ended it. */
  private @Nullable CmMessage outgoing;

  private @Nullable ReadyToUse ready;

  /** Whether an active end asks where no HCA is. */
  private final AbsentPeer absent = new AbsentPeer();

  /** How the ends prove who they are; null without a lock. */
  private @Nullable LockHandshake lock;

  /** Passive end with a lock: the REP that {@link #prepare} made. */
  private @Nullable Reply prepared;

  private Communication(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      Gid address,
      int localId,
      boolean active,
      long transaction,
      State state) {
    this.agent = agent;
    this.timeline = timeline;
    this.peer = peer;
    this.address = address;
    this.localId = localId;
    this.active = active;
    this.transaction = transaction;
    this.state = state;
    alarm = timeline.alarm(this::alarm);
  }

  static Communication active(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      Request request,
      @Nullable LockHandshake lock,
      CmUser user) {
    Communication made =
        new Communication(
            agent,
            timeline,
            peer,
            peer,
            request.localId(),
            /* active= */ true,
            request.transaction(),
            State.REQ_SENT);
    made.user = user;
    made.lock = lock;
    made.localQueuePair = request.queuePair();
    made.proven = true;
    return made;
  }

  /**
   * A passive end.
   *
   * @param address the IP address that the request came from
   * @param lock how the ends prove who they are, or null
   * @param known whether somebody at the peer's address has proven itself lately
   */
  static Communication passive(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      Gid address,
      int localId,
      Request request,
      @Nullable LockHandshake lock,
      boolean known) {
    Communication made =
        new Communication(
            agent,
            timeline,
            peer,
            address,
            localId,
            /* active= */ false,
            request.transaction(),
            State.REQ_RECEIVED);
    made.lock = lock;
    made.remoteId = request.localId();
    made.remoteQueuePair = request.queuePair();
    made.unanswered = 1;
    made.mostUnpaid = known ? KNOWN_UNPAID_MESSAGES : UNPAID_MESSAGES;
    return made;
  }

  /** Passive end: somebody is to decide on it. */
  void user(CmUser owner) {
    user = owner;
    alarm.set(timeline.now() + DECISION_PATIENCE);
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
    send(request, timeoutNanos, FIRST_RETRY);
  }

  // ---- what the user does

  /** Whether both ends prove who they are. */
  public boolean isLocked() {
    return lock != null;
  }

  /** What seals the packets, once {@linkplain CmUser#replied replied} or prepared; or null. */
  public @Nullable PacketLock packets() {
    LockHandshake with = lock;
    return with == null ? null : with.packets();
  }

  /**
   * Passive end: makes ready to {@linkplain #accept accept} by this reply, so that {@link #packets}
   * are sealed before the peer sends any. For who accepts next, also without having entered.
   */
  public void prepare(Reply reply) {
    LockHandshake with = lock;
    if (with != null) {
      prepared = with.prove(named(reply), agent.port());
    }
  }

  private Reply named(Reply reply) {
    return new Reply(
        transaction,
        localId,
        remoteId,
        reply.queuePair(),
        reply.startingPsn(),
        reply.responderResources(),
        reply.initiatorDepth(),
        reply.rnrRetry(),
        reply.guid(),
        reply.privateData());
  }

  /**
   * Passive end: accepts. Does nothing if the peer has given up meanwhile.
   *
   * @param reply whose ids and transaction are filled in here; with a lock, the one that was
   *     {@linkplain #prepare prepared}
   */
  public void accept(Reply reply) {
    if (state != State.REQ_RECEIVED) {
      return;
    }
    if (lock != null && prepared == null) {
      prepare(reply);
    }
    state = State.REP_SENT;
    localQueuePair = reply.queuePair();
    replied = timeline.now();
    agent.serves(this);
    send(
        prepared == null ? named(reply) : prepared,
        REPLY_PATIENCE,
        proven ? FIRST_RETRY : LAST_RETRY);
  }

  /** A message without private data; with a lock, and keys of the connection, proven. */
  private <M extends CmMessage> M withProof(int length, Function<ByteBuffer, M> message) {
    LockHandshake with = lock;
    return with == null
        ? message.apply(Mad.padded(ByteBuffer.allocate(0), length))
        : with.prove(length, message);
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
        withProof(Mad.READY_DATA, data -> new ReadyToUse(transaction, localId, remoteId, data));
    ready = message;
    send(message, REPLY_PATIENCE, FIRST_RETRY);
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
      case ESTABLISHED -> requestDisconnect();
      case DREQ_SENT, TIME_WAIT, GONE -> {}
    }
  }

  /**
   * Either end: ends the connection, or rejects it if it is not established. The user is told
   * nothing more.
   */
  public void disconnect() {
    reject(CmReason.CONSUMER_DEFINED, ByteBuffer.allocate(0));
  }

  private void requestDisconnect() {
    state = State.DREQ_SENT;
    long asking = agent.nextTransaction();
    send(
        withProof(
            Mad.DISCONNECT_DATA,
            data -> new DisconnectRequest(asking, localId, remoteId, remoteQueuePair, data)),
        DISCONNECT_PATIENCE,
        FIRST_RETRY);
  }

  // ---- what the peer says

  /**
   * Whether a message may change anything. Before there are keys of the connection, and of an end
   * that may not have them, none can be asked for; a REP is judged where it is taken.
   */
  boolean isGenuine(CmMessage message) {
    LockHandshake with = lock;
    if (with == null) {
      return true;
    }
    if (message instanceof ReadyToUse
        || message instanceof DisconnectRequest
        || message instanceof DisconnectReply) {
      return with.admits(message);
    }
    if (message instanceof Reject) {
      return switch (state) {
        case REQ_SENT, REQ_RECEIVED, REP_SENT -> true;
        case REP_RECEIVED, ESTABLISHED, DREQ_SENT, TIME_WAIT, GONE -> with.admits(message);
      };
    }
    return true;
  }

  void received(Reply reply) {
    switch (state) {
      case REQ_SENT -> {
        state = State.REP_RECEIVED;
        absent.forget();
        alarm.cancel();
        outgoing = null;
        remoteId = reply.localId();
        remoteQueuePair = reply.queuePair();
        LockHandshake with = lock;
        if (with == null) {
          tellReplied(reply);
        } else if (with.admits(reply)) {
          tellReplied(LockHandshake.forProgram(reply));
        } else {
          refuse();
        }
      }
      case ESTABLISHED -> {
        if (ready != null && reply.localId() == remoteId) {
          emit(ready);
        }
      }
      case TIME_WAIT -> rejectAgain();
      default -> {}
    }
  }

  /** The peer accepts and has not the key: both ends are told. */
  private void refuse() {
    CmUser told = user;
    endWith(CmReason.KEY, ByteBuffer.allocate(0));
    if (told != null && outgoing instanceof Reject reject) {
      told.rejected(reject);
    }
  }

  /** A message with the id of this end has come, so that the peer has taken one. */
  void proven() {
    if (!proven) {
      proven = true;
      hadBack();
      agent.proven(this);
    }
  }

  void receivedReady() {
    if (state == State.REP_SENT) {
      proven();
      state = State.ESTABLISHED;
      alarm.cancel();
      outgoing = null;
      agent.established(this);
      CmUser told = user;
      if (told != null) {
        told.established();
      }
    } else if (state == State.TIME_WAIT) {
      rejectAgain();
    }
  }

  /** The request that it was made for has come again. */
  void receivedAgain() {
    if (!proven) {
      unanswered++;
    }
    switch (state) {
      case REQ_RECEIVED -> {
        emit(
            new Receipt(
                transaction,
                localId,
                remoteId,
                Answered.REQUEST,
                SERVICE_TIMEOUT,
                Mad.padded(ByteBuffer.allocate(0), Mad.RECEIPT_DATA)));
        alarm.set(timeline.now() + DECISION_PATIENCE);
      }
      case REP_SENT -> {
        if (outgoing != null) {
          emit(outgoing);
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
        LockHandshake with = lock;
        waitOut(null);
        if (told != null) {
          told.rejected(with != null && active ? with.forProgram(reject) : reject);
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
        if (state == State.REP_SENT) {
          receivedReady();
        }
        long asked = request.transaction();
        emit(
            withProof(Mad.READY_DATA, data -> new DisconnectReply(asked, localId, remoteId, data)));
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

  /** The peer's process is gone, and answers nothing any more. */
  void departed() {
    CmUser told = user;
    switch (state) {
      case REQ_SENT, REP_RECEIVED, REQ_RECEIVED, REP_SENT -> {
        waitOut(null);
        if (told != null) {
          told.unreachable(ConnectionEvent.NO_HCA);
        }
      }
      case ESTABLISHED -> {
        waitOut(null);
        if (told != null) {
          told.disconnected();
        }
      }
      case DREQ_SENT -> waitOut(null);
      case TIME_WAIT, GONE -> {}
    }
  }

  void receivedDisconnected() {
    if (state == State.DREQ_SENT) {
      waitOut(null);
    }
  }

  // ---- time

  private void send(CmMessage message, long patience, long firstRetry) {
    outgoing = message;
    deadline = timeline.now() + patience;
    if (deadline < 0) {
      deadline = Long.MAX_VALUE;
    }
    retryDelay = firstRetry;
    emit(message);
    sleep();
  }

  /** Sends a message, unless nothing more may go to a peer that may not be who it says. */
  private void emit(CmMessage message) {
    if (proven || isPaid()) {
      agent.send(message, peer);
    }
  }

  private boolean isPaid() {
    if (unanswered > 0) {
      unanswered--;
      return true;
    }
    if (unpaid < mostUnpaid && agent.unpaid().take(address)) {
      unpaid++;
      return true;
    }
    return false;
  }

  /** What went unpaid is had back by others at the address. */
  private void hadBack() {
    agent.unpaid().giveBack(address, unpaid);
    unpaid = 0;
  }

  private void sleep() {
    boolean silent = !proven && unanswered == 0 && unpaid == mostUnpaid;
    alarm.set(silent ? deadline : Math.min(deadline, timeline.now() + retryDelay));
  }

  private void alarm() {
    if (state == State.TIME_WAIT) {
      state = State.GONE;
      hadBack();
      agent.forget(this);
      return;
    }
    if (state == State.REQ_RECEIVED) {
      tooLate();
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
    if (state == State.REQ_SENT && absent.isCertain(agent.port(), peer)) {
      giveUp(ConnectionEvent.NO_HCA);
      return;
    }
    emit(again);
    // An RTU that has come is not answered: no more of it than eight, over all that time.
    // Nor are there many for a peer that may not be there.
    long longest = state == State.ESTABLISHED || !proven ? REPLY_PATIENCE : LAST_RETRY;
    retryDelay = Math.min(2 * retryDelay, longest);
    sleep();
  }

  private void tooLate() {
    if (state == State.ESTABLISHED) {
      outgoing = null;
      return;
    }
    if (state == State.DREQ_SENT) {
      waitOut(null);
      return;
    }
    giveUp(ConnectionEvent.TIMED_OUT);
  }

  private void giveUp(int why) {
    CmUser told = user;
    endWith(CmReason.TIMEOUT, ByteBuffer.allocate(0));
    if (told != null) {
      told.unreachable(why);
    }
  }

  private void endWith(int reason, ByteBuffer privateData) {
    Answered answered =
        state == State.REQ_RECEIVED
            ? Answered.REQUEST
            : state == State.REP_RECEIVED ? Answered.REPLY : Answered.OTHER;
    long information = reason == CmReason.TIMEOUT ? agent.guid() : 0;
    Function<ByteBuffer, Reject> message =
        data -> new Reject(transaction, localId, remoteId, answered, reason, information, data);
    LockHandshake with = lock;
    Reject reject =
        with == null
            ? message.apply(Mad.padded(privateData, Mad.REJECT_DATA))
            : state == State.REQ_RECEIVED
                ? with.proveRefusal(privateData, message)
                : with.prove(Mad.REJECT_DATA, message);
    emit(reject);
    waitOut(reject);
  }

  private void rejectAgain() {
    if (outgoing != null) {
      emit(outgoing);
    }
  }

  /** Gives its place to another, if its peer is silent; whether it did. */
  boolean giveWay() {
    if (timeline.now() - replied < SILENCE) {
      return false;
    }
    tooLate();
    return true;
  }

  private void waitOut(@Nullable Reject reject) {
    state = State.TIME_WAIT;
    absent.forget();
    user = null;
    outgoing = reject;
    agent.waits(this);
    alarm.set(timeline.now() + TIME_WAIT);
  }

  /** Ends the time-wait early. */
  void abandon() {
    state = State.GONE;
    alarm.cancel();
    hadBack();
    agent.forget(this);
  }

  private void tellReplied(Reply reply) {
    CmUser told = user;
    if (told != null) {
      told.replied(reply);
    }
  }
}
