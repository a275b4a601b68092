// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The active end of a connection, until it is established.
 *
 * <pre>
 *  state        on                    sends          to
 *  REQ_SENT     REP                   -              REP_RECEIVED  user: replied
 *               MRA                   -              (waits the time in it before the next REQ)
 *               REJ                   -              TIME_WAIT     user: rejected
 *               deadline, no HCA      REJ            TIME_WAIT     user: unreachable
 *  REP_RECEIVED ready()               RTU            ESTABLISHED
 *               REJ                   -              TIME_WAIT     user: rejected
 *  ESTABLISHED  REP again             RTU
 * </pre>
 *
 * This end sends up to nine RTUs, since an RTU has no answer.
 */
final class ActiveCommunication extends Communication {
  private final AbsentPeer absent = new AbsentPeer();
  private @Nullable ReadyToUse ready;

  ActiveCommunication(
      CmAgent agent,
      Timeline timeline,
      Gid peer,
      Request request,
      @Nullable CmKeyHandshake handshake,
      CmUser user) {
    super(
        agent,
        timeline,
        peer,
        new ConnectionMessages(request.transaction(), request.localId(), 0, handshake),
        AmplificationLimit.none(agent.unpaid(), peer),
        State.REQ_SENT);
    this.user = user;
    localQueuePair = request.queuePair();
  }

  void begin(Request request, long timeoutNanos) {
    send(request, timeoutNanos, FIRST_RETRY);
  }

  @Override
  public boolean ready() {
    if (state != State.REP_RECEIVED) {
      return false;
    }
    state = State.ESTABLISHED;
    ReadyToUse message = messages.ready();
    ready = message;
    send(message, REPLY_PATIENCE, FIRST_RETRY);
    return true;
  }

  @Override
  void received(Reply reply) {
    switch (state) {
      case REQ_SENT -> {
        state = State.REP_RECEIVED;
        absent.forget();
        answered();
        messages.remoteId(reply.localId());
        remoteQueuePair = reply.queuePair();
        CmKeyHandshake handshake = messages.handshake();
        if (handshake == null) {
          notifyUser(to -> to.replied(reply));
        } else if (handshake.admits(reply)) {
          notifyUser(to -> to.replied(CmKeyHandshake.forProgram(reply)));
        } else {
          refuse();
        }
      }
      case ESTABLISHED -> {
        if (ready != null && reply.localId() == remoteId()) {
          emit(ready);
        }
      }
      default -> super.received(reply);
    }
  }

  /** Rejects a REP from a peer that does not have the key, at both ends. */
  private void refuse() {
    Reject reject = sendReject(CmReason.KEY, Mad.noData(0));
    end(reject, to -> to.rejected(reject));
  }

  @Override
  boolean isPeerAbsent() {
    return state == State.REQ_SENT && absent.isCertain(agent.port(), peer());
  }

  @Override
  void waitOut(@Nullable Reject reject) {
    absent.forget();
    super.waitOut(reject);
  }
}
