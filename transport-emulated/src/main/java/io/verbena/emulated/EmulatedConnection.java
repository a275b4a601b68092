package io.verbena.emulated;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection. Both ends share a lock, under which their states change together.
 *
 * <pre>
 *  active                               passive
 *  RESOLVED  -- connect, request ---->  REQUESTED
 *  CONNECTING                              | accept          | reject, close
 *  ESTABLISHED <---------------------- ESTABLISHED           |
 *  ENDED  <----------------------------------------------- ENDED
 *     |  disconnect or close of either end, or the timeout of connect
 * </pre>
 */
final class EmulatedConnection implements ConnectionIdentifier {
  static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** The kernel's choice for a connection between two local ports: 4.096 us times 2 to the 14th. */
  private static final int ACK_TIMEOUT = 14;

  /** How soon a request is sent again that did not fit the backlog; the kernel takes 4 s. */
  private static final long REQUEST_RETRY_NANOS = 20_000_000;

  private enum State {
    RESOLVED,
    CONNECTING,
    REQUESTED,
    ESTABLISHED,
    ENDED
  }

  private final EmulatedConnectionManager manager;
  private final String name;
  private final Object lock;
  private State state;
  private boolean closed;
  private @Nullable EmulatedConnection peer;
  private @Nullable EmulatedQueuePair queuePair;
  private ConnectionParameters parameters = ConnectionParameters.defaults();

  private EmulatedConnection(
      EmulatedConnectionManager manager, String name, Object lock, State state) {
    this.manager = manager;
    this.name = name;
    this.lock = lock;
    this.state = state;
    manager.opened(this);
  }

  static EmulatedConnection active(EmulatedConnectionManager manager, String name) {
    return new EmulatedConnection(manager, name, new Object(), State.RESOLVED);
  }

  @Override
  public EmulatedConnectionManager manager() {
    return manager;
  }

  @Override
  public String peer() {
    return "emulated://" + name;
  }

  @Override
  public @Nullable QueuePair queuePair() {
    synchronized (lock) {
      return queuePair;
    }
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
    if (domain.device() != manager.device()) {
      throw invalid("create queue pair: the protection domain is another device's");
    }
    if (options.type() != QueuePairType.RC) {
      throw invalid("create queue pair: type: " + options.type() + " (expected: RC)");
    }
    synchronized (lock) {
      if (closed || queuePair != null) {
        throw invalid("create queue pair: it has one, or is closed");
      }
      EmulatedQueuePair pair = (EmulatedQueuePair) domain.createQueuePair(options);
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(1)
              .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
      queuePair = pair;
      return pair;
    }
  }

  @Override
  public void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, ConnectionParameters.MAX_CONNECT_DATA);
    ByteBuffer data = copy(offered.privateData());
    manager.device().requireWhole("connect");
    synchronized (lock) {
      requireState("connect", State.RESOLVED, true);
      state = State.CONNECTING;
      parameters = offered;
    }
    // The request is sent however short the time for its answer.
    ask(offered, data);
    manager.device().schedule(this::connectTimedOut, timeoutNanos);
  }

  /** Sends the request, again and again while the backlog of the listener is full. */
  private void ask(ConnectionParameters offered, ByteBuffer data) {
    synchronized (lock) {
      if (closed || state != State.CONNECTING) {
        return;
      }
    }
    EmulatedListener listener = manager.device().fabric().listener(name);
    if (listener == null) {
      synchronized (lock) {
        state = State.ENDED;
      }
      raise(
          ConnectionEvent.Type.REJECTED,
          ConnectionEvent.REJECT_INVALID_SERVICE_ID,
          NO_DATA,
          offered);
      return;
    }
    if (!listener.reserve()) {
      manager.device().schedule(() -> ask(offered, data), REQUEST_RETRY_NANOS);
      return;
    }
    EmulatedConnection passive =
        new EmulatedConnection(listener.manager(), name, lock, State.REQUESTED);
    synchronized (lock) {
      passive.peer = this;
      peer = passive;
    }
    listener
        .manager()
        .raise(
            new ConnectionEvent(
                ConnectionEvent.Type.CONNECT_REQUEST,
                passive,
                listener,
                0,
                data,
                offered.responderResources(),
                offered.initiatorDepth()));
  }

  private void connectTimedOut() {
    synchronized (lock) {
      if (closed || state != State.CONNECTING) {
        return;
      }
      state = State.ENDED;
      EmulatedConnection passive = peer;
      if (passive != null) {
        passive.state = State.ENDED;
      }
      raise(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.TIMED_OUT, NO_DATA, parameters);
    }
  }

  @Override
  public void accept(ConnectionParameters offered) {
    check("accept", offered, ConnectionParameters.MAX_ACCEPT_DATA);
    ByteBuffer data = copy(offered.privateData());
    manager.device().requireWhole("accept");
    synchronized (lock) {
      EmulatedConnection active = peer;
      EmulatedQueuePair own = queuePair;
      if (state == State.ENDED && !closed && own != null) {
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT, NO_DATA, parameters);
        return;
      }
      requireState("accept", State.REQUESTED, true);
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
      active.state = State.ESTABLISHED;
      raise(ConnectionEvent.Type.ESTABLISHED, 0, NO_DATA, active.parameters);
      active.raise(ConnectionEvent.Type.ESTABLISHED, 0, data, offered);
    }
  }

  /** One of the queue pairs is closed or in no state to connect: both ends are told. */
  private void fail(EmulatedConnection active) {
    state = State.ENDED;
    active.state = State.ENDED;
    int brokenPipe = -32;
    raise(ConnectionEvent.Type.CONNECT_ERROR, brokenPipe, NO_DATA, parameters);
    active.raise(ConnectionEvent.Type.CONNECT_ERROR, brokenPipe, NO_DATA, parameters);
  }

  private static void toReadyToReceive(
      EmulatedQueuePair pair, EmulatedQueuePair other, ConnectionParameters own, int peerPsn) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(other.device().gid()))
            .pathMtu(Mtu.MTU_4096)
            .destinationQueuePair(other.number())
            .receivePsn(peerPsn)
            .maxDestinationReadAtomic(own.responderResources())
            .minRnrTimer(0));
  }

  private static void toReadyToSend(
      EmulatedQueuePair pair, ConnectionParameters own, ConnectionParameters its, int psn) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(ACK_TIMEOUT)
            .retryCount(own.retryCount())
            .rnrRetry(own.rnrRetryCount())
            .sendPsn(psn)
            .maxReadAtomic(Math.min(own.initiatorDepth(), its.responderResources())));
  }

  @Override
  public void reject(ByteBuffer privateData) {
    ConnectionLimits.checkData("reject", privateData, ConnectionParameters.MAX_REJECT_DATA);
    ByteBuffer data = copy(privateData);
    synchronized (lock) {
      if (state == State.ENDED && !closed) {
        return;
      }
      requireState("reject", State.REQUESTED, false);
      endRequest(data);
    }
  }

  private void endRequest(ByteBuffer data) {
    state = State.ENDED;
    EmulatedConnection active = peer;
    if (active != null && active.state == State.CONNECTING) {
      active.state = State.ENDED;
      active.raise(
          ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_CONSUMER_DEFINED, data, parameters);
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
      state = State.ENDED;
      own = queuePair;
      raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA, parameters);
      EmulatedConnection far = peer;
      if (far != null && far.state == State.ESTABLISHED) {
        far.state = State.ENDED;
        other = far.queuePair;
        far.raise(ConnectionEvent.Type.DISCONNECTED, 0, NO_DATA, parameters);
      }
    }
    if (own != null) {
      own.fail();
    }
    if (other != null) {
      other.fail();
    }
  }

  @Override
  public void close() {
    disconnect();
    synchronized (lock) {
      if (closed) {
        return;
      }
      if (state == State.REQUESTED) {
        endRequest(NO_DATA);
      } else if (state == State.CONNECTING && peer != null) {
        peer.state = State.ENDED;
      }
      state = State.ENDED;
      closed = true;
      peer = null;
    }
    manager.forget(this);
    manager.closed(this);
  }

  /** The device has failed: its program is told, and the peer is not, as nothing is sent. */
  void deviceRemoved() {
    synchronized (lock) {
      state = State.ENDED;
      raise(ConnectionEvent.Type.DEVICE_REMOVAL, 0, NO_DATA, parameters);
    }
  }

  private void raise(
      ConnectionEvent.Type type, int status, ByteBuffer data, ConnectionParameters its) {
    if (!closed) {
      manager.raise(
          new ConnectionEvent(
              type, this, null, status, data, its.responderResources(), its.initiatorDepth()));
    }
  }

  private void requireState(String verb, State expected, boolean withQueuePair) {
    if (closed || state != expected) {
      throw invalid(
          verb + ": state: " + (closed ? "closed" : state) + " (expected: " + expected + ")");
    }
    if (withQueuePair && queuePair == null) {
      throw invalid(verb + ": no queue pair");
    }
  }

  private void check(String verb, ConnectionParameters offered, int mostData) {
    ConnectionLimits.check(verb, offered, mostData, manager.device().attributes());
  }

  private static ByteBuffer copy(ByteBuffer data) {
    ByteBuffer copy = ByteBuffer.allocate(data.remaining());
    copy.put(0, data, data.position(), data.remaining());
    return copy.asReadOnlyBuffer();
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
