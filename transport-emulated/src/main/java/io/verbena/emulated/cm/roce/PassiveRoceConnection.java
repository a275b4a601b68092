// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmReason;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;

/** The passive end of a connection over a wire. */
final class PassiveRoceConnection extends RoceConnection {
  private final Communication communication;
  private final Request request;

  private PassiveRoceConnection(
      RoceConnectionManager manager, int port, Communication communication, Request request) {
    super(
        manager,
        request.source(),
        port,
        manager.name(request.source(), port),
        ServiceId.port(request.serviceId()),
        State.REQUESTED);
    this.communication = communication;
    this.request = request;
  }

  /** Creates a passive end and raises its request to the program. */
  static PassiveRoceConnection requested(
      RoceConnectionManager manager,
      RoceListener listener,
      Communication communication,
      Request request) {
    int port = RequestData.port(request.privateData());
    PassiveRoceConnection made = new PassiveRoceConnection(manager, port, communication, request);
    manager.raise(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST,
            made,
            listener,
            0,
            RequestData.ofProgram(request.privateData()),
            request.responderResources(),
            request.initiatorDepth()));
    return made;
  }

  @Override
  Communication communication() {
    return communication;
  }

  @Override
  public synchronized void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, ConnectionParameters.MAX_CONNECT_DATA);
    requireState("connect", State.RESOLVED);
  }

  @Override
  public synchronized void accept(ConnectionParameters offered) {
    int most = ConnectionParameters.MAX_ACCEPT_DATA;
    check(
        "accept",
        offered,
        communication.isLocked() ? most - Communication.REPLY_ROOM_OF_LOCK : most);
    if (state == State.ENDED && !closed && queuePair != null) {
      raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
      return;
    }
    EmulatedQueuePair own = requireQueuePair("accept", State.REQUESTED);
    parameters = offered;
    Reply reply =
        new Reply(
            0,
            0,
            0,
            own.number(),
            peerPsn,
            offered.responderResources(),
            offered.initiatorDepth(),
            offered.rnrRetryCount(),
            manager().fabric().secrets().nextLong(),
            Mad.padded(offered.privateData(), Mad.REPLY_DATA));
    try {
      communication.prepare(reply);
      toReadyToReceive(own, request.queuePair(), mtu(request.pathMtu()));
    } catch (VerbsException e) {
      fail();
      return;
    }
    state = State.ACCEPTING;
    onAgent(ours -> ours.accept(reply));
  }

  @Override
  public void established() {
    manager().note(this::complete);
  }

  private synchronized void complete() {
    EmulatedQueuePair own = queuePair;
    if (closed || state != State.ACCEPTING || own == null) {
      return;
    }
    try {
      toReadyToSend(
          own,
          request.startingPsn(),
          request.retryCount(),
          request.rnrRetry(),
          request.responderResources());
    } catch (VerbsException e) {
      // If the peer's first message moved the queue pair to ERR, the connection was established,
      // and completions report why it ended.
      if (own.state() != QueuePairState.ERR) {
        onAgent(Communication::disconnect);
        endBy(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
        return;
      }
    }
    establish(NO_DATA, request.responderResources(), request.initiatorDepth());
  }

  @Override
  public synchronized void reject(ByteBuffer privateData) {
    int most = ConnectionParameters.MAX_REJECT_DATA;
    ConnectionLimits.checkData(
        "reject",
        privateData,
        communication.isLocked() ? most - Communication.PROOF_OF_LOCK : most);
    if (state == State.ENDED && !closed && queuePair == null) {
      return;
    }
    requireState("reject", State.REQUESTED);
    state = State.ENDED;
    onAgent(ours -> ours.reject(CmReason.CONSUMER_DEFINED, privateData));
  }

  @Override
  public void rejected(Reject reject) {
    manager().note(this::endBefore);
  }

  @Override
  public void unreachable(int why) {
    manager().note(this::endBefore);
  }

  /** Ends the connection after the peer has given up. */
  private synchronized void endBefore() {
    if (state == State.REQUESTED) {
      state = State.ENDED;
    } else if (state == State.ACCEPTING) {
      endBy(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
    }
  }
}
