// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.cm.ManagedQueuePair;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection within a JVM.
 *
 * <pre>{@code
 * active                               passive
 * RESOLVED  -- connect, request ---->  REQUESTED
 * CONNECTING                              | accept          | reject, close
 * ESTABLISHED <---------------------- ESTABLISHED           |
 * ENDED  <----------------------------------------------- ENDED
 *    |  disconnect or close of either end, or the timeout of connect
 * }</pre>
 */
final class LocalConnection extends LocalIdentifier {
  /** The kernel's choice for a connection between two local ports: 4.096 us times 2 to the 14th. */
  private static final int ACK_TIMEOUT = 14;

  private @Nullable LocalConnection peer;

  private LocalConnection(LocalConnectionManager manager, String name, Object lock, State state) {
    super(manager, PortSpace.TCP, name, lock, state, ConnectionParameters.MAX_CONNECT_DATA);
    manager.opened(this);
  }

  static LocalConnection active(LocalConnectionManager manager, String name) {
    return new LocalConnection(manager, name, new Object(), State.RESOLVED);
  }

  @Override
  ConnectionEvent requestNow(LocalListener listener, ByteBuffer data) {
    LocalConnection passive = new LocalConnection(listener.manager(), name, lock, State.REQUESTED);
    passive.peer = this;
    peer = passive;
    return new ConnectionEvent(
        ConnectionEvent.Type.CONNECT_REQUEST,
        passive,
        listener,
        0,
        data,
        parameters.responderResources(),
        parameters.initiatorDepth());
  }

  @Override
  void nobodyListens() {
    raise(ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_INVALID_SERVICE_ID, NO_DATA);
  }

  @Override
  void gaveUp() {
    LocalConnection passive = peer;
    if (passive != null) {
      passive.state = State.ENDED;
    }
  }

  @Override
  public void accept(ConnectionParameters offered) {
    check("accept", offered, ConnectionParameters.MAX_ACCEPT_DATA);
    ByteBuffer data = copy(offered.privateData());
    manager.device().requireWhole("accept");
    synchronized (lock) {
      LocalConnection active = peer;
      EmulatedQueuePair own = queuePair;
      if (state == State.ENDED && !closed && own != null) {
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA);
        return;
      }
      requireQueuePair("accept", State.REQUESTED);
      parameters = offered;
      EmulatedQueuePair other = active == null ? null : active.queuePair;
      if (own == null || active == null || other == null) {
        throw new AssertionError("a request without its two ends");
      }
      Secrets secrets = manager.device().fabric().secrets();
      int sendPsn = secrets.next24Bits();
      int otherSendPsn = secrets.next24Bits();
      try {
        toReadyToReceive(own, other, offered, otherSendPsn);
        toReadyToReceive(other, own, active.parameters, sendPsn);
        toReadyToSend(own, offered, active.parameters, sendPsn);
        toReadyToSend(other, active.parameters, offered, otherSendPsn);
      } catch (VerbsException e) {
        fail(active);
        return;
      }
      state = State.ESTABLISHED;
      active.endWait(State.ESTABLISHED);
      established(NO_DATA, active.parameters);
      active.established(data, offered);
    }
  }

  /**
   * Ends the connection at both ends, since a queue pair is closed or its state does not allow
   * connecting.
   */
  private void fail(LocalConnection active) {
    state = State.ENDED;
    active.endWait(State.ENDED);
    int brokenPipe = -32;
    raise(ConnectionEvent.Type.CONNECT_ERROR, brokenPipe, NO_DATA);
    active.raise(ConnectionEvent.Type.CONNECT_ERROR, brokenPipe, NO_DATA);
  }

  private static void toReadyToReceive(
      EmulatedQueuePair pair, EmulatedQueuePair other, ConnectionParameters own, int peerPsn) {
    ManagedQueuePair.toReadyToReceive(
        pair,
        other.device().gid(),
        other.number(),
        Mtu.MTU_4096,
        peerPsn,
        own.responderResources(),
        /* rnrTimer= */ 0);
  }

  private static void toReadyToSend(
      EmulatedQueuePair pair, ConnectionParameters own, ConnectionParameters its, int psn) {
    int depth = Math.min(own.initiatorDepth(), its.responderResources());
    ManagedQueuePair.toReadyToSend(
        pair, psn, ACK_TIMEOUT, own.retryCount(), own.rnrRetryCount(), depth);
  }

  @Override
  public void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData("reject", privateData, ConnectionParameters.MAX_REJECT_DATA);
    ByteBuffer data = copy(privateData);
    synchronized (lock) {
      if (state == State.ENDED && !closed) {
        return;
      }
      requireState("reject", State.REQUESTED);
      endRequest(data);
    }
  }

  private void endRequest(ByteBuffer data) {
    state = State.ENDED;
    LocalConnection active = peer;
    if (active != null && active.state == State.CONNECTING) {
      active.endWait(State.ENDED);
      active.raise(ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_CONSUMER_DEFINED, data);
    }
  }

  @Override
  public void disconnect() {
    EmulatedQueuePair own;
    EmulatedQueuePair other = null;
    synchronized (lock) {
      if (state != State.ESTABLISHED) {
        return;
      }
      LocalConnection far = peer;
      if (far != null && far.state != State.ESTABLISHED) {
        far = null;
      }
      state = State.ENDED;
      own = failQueuePair();
      if (far != null) {
        far.state = State.ENDED;
        // Both queue pairs move at once: with its peer in ERR, the requests of the other one would
        // exhaust their retries.
        other = far.failQueuePair();
      }
      raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA);
      if (far != null) {
        far.raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA);
      }
    }
    if (own != null) {
      own.flushPending();
    }
    if (other != null) {
      other.flushPending();
    }
  }

  @Override
  void leave() {
    if (state == State.REQUESTED) {
      endRequest(NO_DATA);
    } else if (state == State.CONNECTING && peer != null) {
      peer.state = State.ENDED;
    }
    peer = null;
  }

  private void established(ByteBuffer data, ConnectionParameters its) {
    raise(
        new ConnectionEvent(
            ConnectionEvent.Type.ESTABLISHED,
            this,
            null,
            0,
            data,
            its.responderResources(),
            its.initiatorDepth()));
  }
}
