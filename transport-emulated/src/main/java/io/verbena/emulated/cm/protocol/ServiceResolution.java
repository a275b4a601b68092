// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.engine.Timeline;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * One end of a service ID resolution (IBTA volume 1, service ID resolution), which finds the queue
 * pair that serves datagrams.
 *
 * <pre>
 *  state     on                  sends      to
 *  ASKING    SIDR_REP            -          GONE      user: answered
 *            deadline, no HCA    -          GONE      user: unreachable
 *            withdraw()          -          GONE
 *  ASKED     the SIDR_REQ again  -
 *            none for long       -          GONE
 *            answer()            SIDR_REP   ANSWERED
 *  ANSWERED  the SIDR_REQ again  SIDR_REP
 *            alarm               -          GONE
 * </pre>
 *
 * The active end repeats its request at growing intervals. The passive end does not learn whether
 * its answer arrived.
 */
public final class ServiceResolution {
  /**
   * The first retry must not be too soon: Linux takes a repeated request that comes after its
   * answer for a new one.
   */
  private static final long FIRST_RETRY = 100 * RetryTimer.MILLI;

  private static final long LAST_RETRY = 1_000 * RetryTimer.MILLI;

  /** Covers two lost answers in a row, since Linux repeats its request after 4.1 s. */
  private static final long REMEMBERED = 10_000 * RetryTimer.MILLI;

  private enum State {
    ASKING,
    ASKED,
    ANSWERED,
    GONE
  }

  private final ServiceAgent agent;
  private final RetryTimer timer;
  private final Gid peer;
  private final ServiceRequest request;
  private final @Nullable ServiceUser user;
  private final AbsentPeer absent = new AbsentPeer();
  private State state;
  private @Nullable ServiceReply reply;

  private ServiceResolution(
      ServiceAgent agent,
      Timeline timeline,
      Gid peer,
      ServiceRequest request,
      @Nullable ServiceUser user,
      State state) {
    this.agent = agent;
    this.peer = peer;
    this.request = request;
    this.user = user;
    this.state = state;
    timer = new RetryTimer(timeline, this::alarm);
  }

  static ServiceResolution active(
      ServiceAgent agent, Timeline timeline, Gid peer, ServiceRequest request, ServiceUser user) {
    return new ServiceResolution(agent, timeline, peer, request, user, State.ASKING);
  }

  static ServiceResolution passive(
      ServiceAgent agent, Timeline timeline, Gid peer, ServiceRequest request) {
    return new ServiceResolution(agent, timeline, peer, request, null, State.ASKED);
  }

  /** Returns the GID of the peer. */
  public Gid peer() {
    return peer;
  }

  ServiceRequest request() {
    return request;
  }

  void begin(long timeoutNanos) {
    timer.begin(timeoutNanos, FIRST_RETRY);
    agent.send(request, peer);
    timer.sleep();
  }

  // ---- calls of the user

  /** Active end: withdraws the request; the user gets no event. */
  public void withdraw() {
    if (state == State.ASKING) {
      end();
    }
  }

  /**
   * Passive end: answers the request; only the first call has an effect.
   *
   * @param answer the answer, whose id, transaction and service this fills in
   */
  public void answer(ServiceReply answer) {
    if (state != State.ASKED) {
      return;
    }
    state = State.ANSWERED;
    ServiceReply sent =
        new ServiceReply(
            request.transaction(),
            request.localId(),
            answer.status(),
            answer.queuePair(),
            request.serviceId(),
            answer.queueKey(),
            answer.privateData());
    reply = sent;
    agent.send(sent, peer);
    timer.await(REMEMBERED);
    agent.answered(this);
  }

  // ---- messages of the peer

  void received(ServiceReply answer) {
    ServiceUser receiver = user;
    if (state == State.ASKING && receiver != null) {
      end();
      receiver.answered(answer);
    }
  }

  /** Handles the repeated request of the peer. */
  void receivedAgain() {
    if (reply != null) {
      agent.send(reply, peer);
    } else {
      awaitDecision();
    }
  }

  /** Passive end: waits for the user's answer as long as the peer repeats its request. */
  void awaitDecision() {
    timer.await(PassiveCommunication.DECISION_PATIENCE);
  }

  // ---- time

  private void alarm() {
    ServiceUser receiver = user;
    if (state == State.ANSWERED || state == State.ASKED) {
      end();
    } else if (state == State.ASKING && receiver != null) {
      boolean late = timer.isOver();
      if (late || absent.isCertain(agent.port(), peer)) {
        end();
        receiver.unreachable(late ? ConnectionEvent.TIMED_OUT : ConnectionEvent.NO_HCA);
        return;
      }
      agent.send(request, peer);
      timer.backOff(LAST_RETRY);
      timer.sleep();
    }
  }

  /** Ends the resolution; later messages match nothing. */
  void end() {
    state = State.GONE;
    absent.forget();
    timer.cancel();
    agent.forget(this);
  }
}
