// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmReason;
import io.verbena.emulated.cm.protocol.CmUser;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.cm.roce.HostNaming.Destination;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.lock.LockKey;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.packet.PacketFabric;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection over a wire.
 *
 * <pre>{@code
 * active                                     passive
 * RESOLVED                                   REQUESTED
 *    | connect: REQ                             | accept: RTR, REP         | reject, close: REJ,
 * CONNECTING -- REJ, MTU: REQ, smaller       ACCEPTING                     | or DREQ after RTU
 *    | REP: RTR, RTS, RTU                       | RTU: RTS                 |
 * ESTABLISHED                                ESTABLISHED                   |
 *    | disconnect, close: DREQ; the peer's      |                          |
 * ENDED  <--------------------------------------+--------------------------+
 * }</pre>
 *
 * <p>The driver's notes are acted on by whoever awaits events. Locks are taken in the order
 * connection, queue pair, fabric.
 */
final class RoceConnection extends ManagedIdentifier implements CmUser {
  /** 268 ms: longer than a busy machine keeps a process waiting; losses are mended long before. */
  private static final int ACK_TIMEOUT = 16;

  /** 0.64 ms. */
  private static final int RNR_TIMER = 12;

  private static final int DEFAULT_PARTITION = 0xffff;
  private static final int BROKEN_PIPE = -32;

  private final RoceConnectionManager manager;
  private final Gid peer;
  private final int peerPort;
  private final String peerName;
  private final int ownPort;
  private final @Nullable Request request;
  private @Nullable Communication communication;
  private ConnectionParameters parameters = ConnectionParameters.defaults();

  /** The first PSN of the peer, which this end chooses. */
  private final int peerPsn;

  /** Active end: the size of packets that is asked for. */
  private Mtu pathMtu;

  /** Active end: the private data of the request, and until when it may be asked again. */
  private ByteBuffer askedWith = NO_DATA;

  private long deadline;

  /** Active end: what the peer must have, too; null to connect without a lock. */
  private @Nullable LockKey key;

  private RoceConnection(
      RoceConnectionManager manager,
      Gid peer,
      int peerPort,
      String peerName,
      State state,
      @Nullable Communication communication,
      @Nullable Request request) {
    super(manager.device(), PortSpace.TCP, null, state);
    this.manager = manager;
    this.peer = peer;
    this.peerPort = peerPort;
    this.peerName = peerName;
    ownPort = request == null ? manager.sourcePorts().take() : ServiceId.port(request.serviceId());
    this.communication = communication;
    this.request = request;
    peerPsn = manager.fabric().secrets().next24Bits();
    pathMtu = manager.fabric().mtu();
    manager.opened(RoceConnectionManager.Kind.IDENTIFIER);
  }

  /** An active end, whose peer is known. */
  static RoceConnection resolved(RoceConnectionManager manager, Destination to) {
    RoceConnection made =
        new RoceConnection(manager, to.host(), to.port(), to.name(), State.RESOLVED, null, null);
    made.key = to.key();
    if (to.key() != null) {
      made.pathMtu = manager.fabric().lockedMtu();
    }
    Mtu most = to.mtu();
    if (most != null && most.compareTo(made.pathMtu) < 0) {
      made.pathMtu = most;
    }
    return made;
  }

  /** A passive end, which is told to the program. */
  static RoceConnection requested(
      RoceConnectionManager manager,
      RoceListener listener,
      Communication communication,
      Request request) {
    int port = RequestData.port(request.privateData());
    RoceConnection made =
        new RoceConnection(
            manager,
            request.source(),
            port,
            manager.name(request.source(), port),
            State.REQUESTED,
            communication,
            request);
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
  public RoceConnectionManager manager() {
    return manager;
  }

  @Override
  public String peer() {
    return peerName;
  }

  @Override
  public InetSocketAddress localAddress() {
    return RoceConnectionManager.socketAddress(manager.gid(), ownPort);
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return RoceConnectionManager.socketAddress(peer, peerPort);
  }

  // ---- active end

  @Override
  public synchronized void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, ConnectionParameters.MAX_CONNECT_DATA);
    EmulatedQueuePair own = requireQueuePair("connect", State.RESOLVED);
    state = State.CONNECTING;
    parameters = offered;
    askedWith = RequestData.of(manager, ownPort, peer, offered.privateData(), Mad.REQUEST_DATA);
    long end = manager.fabric().timeline().now() + timeoutNanos;
    deadline = end < 0 ? Long.MAX_VALUE : end;
    ask(own);
  }

  /** Sends a request, for packets of {@link #pathMtu}. */
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
            askedWith,
            null);
    HostFabric fabric = manager.fabric();
    fabric.enter();
    try {
      long left = deadline - fabric.timeline().now();
      communication = manager.agent().connect(peer, asked, key, left, this);
    } finally {
      fabric.leave();
    }
    fabric.wake();
  }

  @Override
  public void replied(Reply reply) {
    manager.note(() -> complete(reply));
  }

  private synchronized void complete(Reply reply) {
    EmulatedQueuePair own = queuePair;
    if (closed || state != State.CONNECTING || own == null) {
      return;
    }
    try {
      protect(own);
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
    if (!established[0]) {
      // The peer has given up since, which the next note tells.
      return;
    }
    state = State.ESTABLISHED;
    raise(
        ConnectionEvent.Type.ESTABLISHED,
        0,
        reply.privateData(),
        reply.responderResources(),
        reply.initiatorDepth());
  }

  // ---- passive end

  @Override
  public synchronized void accept(ConnectionParameters offered) {
    int most = ConnectionParameters.MAX_ACCEPT_DATA;
    check("accept", offered, isLocked() ? most - Communication.REPLY_ROOM_OF_LOCK : most);
    if (state == State.ENDED && !closed && queuePair != null && request != null) {
      raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
      return;
    }
    EmulatedQueuePair own = requireQueuePair("accept", State.REQUESTED);
    Request asked = request;
    if (asked == null) {
      throw new AssertionError("requested without a request");
    }
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
            manager.fabric().secrets().nextLong(),
            Mad.padded(offered.privateData(), Mad.REPLY_DATA));
    try {
      if (communication != null) {
        communication.prepare(reply);
      }
      protect(own);
      toReadyToReceive(own, asked.queuePair(), mtu(asked.pathMtu()));
    } catch (VerbsException e) {
      fail();
      return;
    }
    state = State.ACCEPTING;
    onAgent(ours -> ours.accept(reply));
  }

  private static Mtu mtu(int code) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.code() == code) {
        return mtu;
      }
    }
    throw new AssertionError("the MTU has been checked: " + code);
  }

  @Override
  public void established() {
    manager.note(this::complete);
  }

  private synchronized void complete() {
    EmulatedQueuePair own = queuePair;
    Request asked = request;
    if (closed || state != State.ACCEPTING || own == null || asked == null) {
      return;
    }
    try {
      toReadyToSend(
          own,
          asked.startingPsn(),
          asked.retryCount(),
          asked.rnrRetry(),
          asked.responderResources());
    } catch (VerbsException e) {
      // What broke by the peer's first message was connected: completions tell why it is no more.
      if (own.state() != QueuePairState.ERR) {
        onAgent(Communication::disconnect);
        state = State.ENDED;
        raise(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
        return;
      }
    }
    state = State.ESTABLISHED;
    raise(
        ConnectionEvent.Type.ESTABLISHED,
        0,
        NO_DATA,
        asked.responderResources(),
        asked.initiatorDepth());
  }

  @Override
  public synchronized void reject(ByteBuffer privateData) {
    int most = ConnectionParameters.MAX_REJECT_DATA;
    ConnectionLimits.checkData(
        "reject", privateData, isLocked() ? most - Communication.PROOF_OF_LOCK : most);
    if (state == State.ENDED && !closed && request != null && queuePair == null) {
      return;
    }
    requireState("reject", State.REQUESTED);
    state = State.ENDED;
    onAgent(ours -> ours.reject(CmReason.CONSUMER_DEFINED, privateData));
  }

  // ---- both

  private boolean isLocked() {
    return communication != null && communication.isLocked();
  }

  /** From its first packet on the queue pair takes and sends what is sealed by the connection. */
  private void protect(EmulatedQueuePair pair) {
    PacketLock lock = communication == null ? null : communication.packets();
    if (lock != null) {
      PacketFabric.protect(pair, lock);
    }
  }

  private void toReadyToReceive(EmulatedQueuePair pair, int number, Mtu mtu) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(peer))
            .pathMtu(mtu)
            .destinationQueuePair(number)
            .receivePsn(peerPsn)
            .maxDestinationReadAtomic(parameters.responderResources())
            .minRnrTimer(RNR_TIMER));
  }

  private void toReadyToSend(
      EmulatedQueuePair pair, int psn, int retryCount, int rnrRetry, int peerServes) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(ACK_TIMEOUT)
            .retryCount(retryCount)
            .rnrRetry(rnrRetry)
            .sendPsn(psn)
            .maxReadAtomic(Math.min(parameters.initiatorDepth(), peerServes)));
  }

  /** The queue pair is closed or in no state to connect: both ends are told. */
  private void fail() {
    state = State.ENDED;
    onAgent(ours -> ours.reject(CmReason.CONSUMER_DEFINED, NO_DATA));
    raise(ConnectionEvent.Type.CONNECT_ERROR, BROKEN_PIPE, NO_DATA);
  }

  @Override
  public void rejected(Reject reject) {
    manager.note(() -> endBefore(reject));
  }

  private synchronized void endBefore(Reject reject) {
    switch (state) {
      case CONNECTING -> {
        if (!asksForSmallerPackets(reject)) {
          state = State.ENDED;
          raise(ConnectionEvent.Type.REJECTED, reject.reason(), reject.privateData());
        }
      }
      case REQUESTED -> state = State.ENDED;
      case ACCEPTING -> {
        state = State.ENDED;
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
      }
      default -> {}
    }
  }

  /**
   * Asks again if the peer takes smaller packets only: for those that it says, or, if it says none,
   * for the next smaller ones. Each time they are smaller, so that it does so four times at most.
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
    manager.note(() -> giveUp(why));
  }

  private synchronized void giveUp(int why) {
    switch (state) {
      case CONNECTING -> {
        state = State.ENDED;
        raise(ConnectionEvent.Type.UNREACHABLE, why, NO_DATA);
      }
      case REQUESTED -> state = State.ENDED;
      case ACCEPTING -> {
        state = State.ENDED;
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
      }
      default -> {}
    }
  }

  @Override
  public void disconnected() {
    manager.note(() -> end(false));
  }

  @Override
  public void disconnect() {
    end(true);
  }

  private void end(boolean byUs) {
    EmulatedQueuePair own;
    synchronized (this) {
      if (state != State.ESTABLISHED) {
        return;
      }
      state = State.ENDED;
      own = queuePair;
      if (byUs) {
        onAgent(Communication::disconnect);
      }
      raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA);
    }
    if (own != null) {
      own.fail();
    }
  }

  @Override
  public void close() {
    disconnect();
    synchronized (this) {
      if (closed) {
        return;
      }
      if (state != State.ENDED) {
        // To the agent it may be established already: how the peer is told, the agent knows.
        int reason = state == State.CONNECTING ? CmReason.TIMEOUT : CmReason.CONSUMER_DEFINED;
        onAgent(ours -> ours.reject(reason, NO_DATA));
      }
      state = State.ENDED;
      closed = true;
    }
    if (request == null) {
      manager.sourcePorts().giveBack(ownPort);
    }
    manager.forget(this);
    manager.closed(RoceConnectionManager.Kind.IDENTIFIER);
  }

  /** What is done to a communication. */
  private interface Step {
    void on(Communication ours);
  }

  private void onAgent(Step step) {
    Communication ours = communication;
    if (ours != null) {
      HostFabric fabric = manager.fabric();
      fabric.enter();
      try {
        // What queue pairs owe goes before what ends their connection.
        fabric.catchUp();
        step.on(ours);
      } finally {
        fabric.leave();
      }
      fabric.wake();
    }
  }

  private void raise(ConnectionEvent.Type type, int status, ByteBuffer data) {
    raise(type, status, data, parameters.responderResources(), parameters.initiatorDepth());
  }

  private void raise(
      ConnectionEvent.Type type, int status, ByteBuffer data, int resources, int depth) {
    if (!closed) {
      manager.raise(new ConnectionEvent(type, this, null, status, data, resources, depth));
    }
  }
}
