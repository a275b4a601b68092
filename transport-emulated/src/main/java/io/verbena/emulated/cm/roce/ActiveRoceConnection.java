// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmReason;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.cm.roce.HostNaming.Destination;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The active end of a connection over a wire. */
final class ActiveRoceConnection extends RoceConnection {
  /** The key that the peer must also have; null to connect without a lock. */
  private final @Nullable SharedSecret key;

  /** The path MTU to request. */
  private Mtu pathMtu;

  /** The private data of the request, also of repeated ones. */
  private ByteBuffer requestData = NO_DATA;

  private long deadline;
  private @Nullable Communication communication;

  ActiveRoceConnection(RoceConnectionManager manager, Destination to) {
    super(manager, to.host(), to.port(), to.name(), /* service= */ 0, State.RESOLVED);
    key = to.key();
    HostFabric fabric = manager.fabric();
    Mtu own = key == null ? fabric.mtu() : fabric.lockedMtu();
    Mtu most = to.mtu();
    pathMtu = most != null && most.compareTo(own) < 0 ? most : own;
  }

  @Override
  @Nullable Communication communication() {
    return communication;
  }

  @Override
  public synchronized void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, ConnectionParameters.MAX_CONNECT_DATA);
    EmulatedQueuePair own = requireQueuePair("connect", State.RESOLVED);
    state = State.CONNECTING;
    parameters = offered;
    requestData = RequestData.of(manager(), ownPort, peer, offered.privateData(), Mad.REQUEST_DATA);
    long end = manager().fabric().timeline().now() + timeoutNanos;
    deadline = end < 0 ? Long.MAX_VALUE : end;
    ask(own);
  }

  /** Sends a request with {@link #pathMtu}. */
  private void ask(EmulatedQueuePair own) {
    Request asked =
        new Request(
            0,
            0,
            ServiceId.of(ServiceId.TCP, peerPort),
            0,
            own.number(),
            parameters.responderResources(),
            parameters.initiatorDepth(),
            0,
            peerPsn,
            parameters.retryCount(),
            DEFAULT_PARTITION,
            pathMtu.code(),
            parameters.rnrRetryCount(),
            peer,
            peer,
            ACK_TIMEOUT,
            requestData,
            null);
    HostFabric fabric = manager().fabric();
    fabric.entered(
        () -> {
          long left = deadline - fabric.timeline().now();
          communication = manager().agent().connect(peer, asked, key, left, this);
        });
    fabric.wake();
  }

  @Override
  public void replied(Reply reply) {
    manager().note(() -> complete(reply));
  }

  private synchronized void complete(Reply reply) {
    EmulatedQueuePair own = queuePair;
    if (closed || state != State.CONNECTING || own == null) {
      return;
    }
    try {
      toReadyToReceive(own, reply.queuePair(), pathMtu);
      toReadyToSend(
          own,
          reply.startingPsn(),
          parameters.retryCount(),
          reply.rnrRetry(),
          reply.responderResources());
    } catch (VerbsException e) {
      fail();
      return;
    }
    boolean[] established = new boolean[1];
    onAgent(ours -> established[0] = ours.ready());
    // Otherwise the peer has given up meanwhile, which the next note reports.
    if (established[0]) {
      establish(reply.privateData(), reply.responderResources(), reply.initiatorDepth());
    }
  }

  @Override
  public void rejected(Reject reject) {
    manager().note(() -> endBefore(reject));
  }

  private synchronized void endBefore(Reject reject) {
    if (state == State.CONNECTING && !asksForSmallerPackets(reject)) {
      endBy(ConnectionEvent.Type.REJECTED, reject.reason(), reject.privateData());
    }
  }

  /**
   * Repeats the request if the peer rejects the path MTU: with the MTU that the peer names, or else
   * with the next smaller one. The MTU decreases each time, so this happens at most four times.
   */
  private boolean asksForSmallerPackets(Reject reject) {
    EmulatedQueuePair own = queuePair;
    if (reject.reason() != CmReason.INVALID_MTU || own == null || pathMtu == Mtu.MTU_256) {
      return false;
    }
    long acceptable = reject.information();
    boolean says = acceptable >= Mtu.MTU_256.code() && acceptable < pathMtu.code();
    pathMtu = mtu(says ? (int) acceptable : pathMtu.code() - 1);
    ask(own);
    return true;
  }

  @Override
  public void unreachable(int why) {
    manager().note(() -> endBefore(why));
  }

  private synchronized void endBefore(int why) {
    if (state == State.CONNECTING) {
      endBy(ConnectionEvent.Type.UNREACHABLE, why, NO_DATA);
    }
  }

  @Override
  public synchronized void accept(ConnectionParameters offered) {
    check("accept", offered, ConnectionParameters.MAX_ACCEPT_DATA);
    requireState("accept", State.REQUESTED);
  }

  @Override
  public synchronized void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData("reject", privateData, ConnectionParameters.MAX_REJECT_DATA);
    requireState("reject", State.REQUESTED);
  }
}
