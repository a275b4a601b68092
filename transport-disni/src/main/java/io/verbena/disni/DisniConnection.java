// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.util.Objects.requireNonNull;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.EventWords;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.ConnectionLimits;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, or of a SIDR exchange for datagrams ({@code rdma_cm_id}). The manager's
 * {@link DisniConnectionManager#steps} guards its state.
 *
 * <pre>{@code
 * active                                          passive
 * RESOLVING  -- address, then route -->  RESOLVED
 *     |                                     | connect      REQUESTED
 *     |                                 CONNECTING             | accept
 *     | error, deadline                     |              ACCEPTING
 *     |                                     | established      |
 *     |                                     +-> ESTABLISHED <--+
 *     |                                     |       | disconnect
 *     |                                     |  DISCONNECTING   |
 *     v                                     v       v          v   rejected, error, deadline
 *   ENDED <---------------------------------+-------+----------+
 * }</pre>
 *
 * <p>A SIDR exchange goes from CONNECTING or REQUESTED to ANSWERED, and stays there: its queue pair
 * is in RTS from the beginning, and the kernel does not know its later states.
 */
final class DisniConnection implements ConnectionIdentifier {
  private static final String FLUSH = "modify queue pair";
  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** The time that the peer may take to answer a disconnect before it counts as gone. */
  private static final long DISCONNECT_NANOS = 3_000_000_000L;

  private enum State {
    RESOLVING,
    RESOLVED,
    CONNECTING,
    REQUESTED,
    ACCEPTING,
    ESTABLISHED,
    DISCONNECTING,
    ANSWERED,
    ENDED
  }

  private final DisniConnectionManager manager;
  private final PortSpace space;
  private final long pointer;
  private final URI peer;
  private final DisniAddress options;
  private final QueuePairSteps pairSteps;
  private final boolean isPassive;
  private State state;
  private boolean closed;

  /**
   * Whether the peer has given up its connect request. {@link #accept} then raises CONNECT_ERROR.
   */
  private boolean callerGone;

  /**
   * Whether the {@code rdma_cm_id} is destroyed, or about to be; this object and its queue pair may
   * outlive it.
   */
  private boolean released;

  /** The addresses that the identifier had when it was released. */
  private @Nullable InetSocketAddress lastLocal;

  private @Nullable InetSocketAddress lastRemote;

  private @Nullable DisniQueuePair queuePair;

  private long deadline;
  private long addressDeadline;
  private int peerServes;
  private int peerAsks;

  private DisniConnection(
      DisniConnectionManager manager,
      PortSpace space,
      long pointer,
      URI peer,
      DisniAddress options,
      State state) {
    this.manager = manager;
    this.options = options;
    pairSteps = new QueuePairSteps(manager.device(), pointer, options);
    this.space = space;
    this.pointer = pointer;
    this.peer = peer;
    this.state = state;
    isPassive = state == State.REQUESTED;
  }

  static DisniConnection active(
      DisniConnectionManager manager,
      PortSpace space,
      long pointer,
      URI peer,
      DisniAddress options,
      long timeoutNanos) {
    DisniConnection connection =
        new DisniConnection(manager, space, pointer, peer, options, State.RESOLVING);
    connection.expireIn(timeoutNanos);
    connection.addressDeadline = connection.deadline;
    return connection;
  }

  static DisniConnection passive(
      DisniConnectionManager manager,
      PortSpace space,
      long pointer,
      URI peer,
      DisniAddress options,
      int peerServes,
      int peerAsks) {
    DisniConnection connection =
        new DisniConnection(manager, space, pointer, peer, options, State.REQUESTED);
    connection.peerServes = peerServes;
    connection.peerAsks = peerAsks;
    return connection;
  }

  long pointer() {
    return pointer;
  }

  @Override
  public DisniConnectionManager manager() {
    return manager;
  }

  private RdmaCore core() {
    return manager.device().core();
  }

  @Override
  public String peer() {
    return peer.toString();
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    synchronized (manager.steps()) {
      return released ? lastLocal : SocketAddress.of(core(), pointer, false);
    }
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    synchronized (manager.steps()) {
      return released ? lastRemote : SocketAddress.of(core(), pointer, true);
    }
  }

  @Override
  public @Nullable QueuePair queuePair() {
    synchronized (manager.steps()) {
      return queuePair;
    }
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
    if (!(domain instanceof DisniProtectionDomain ours) || ours.device() != manager.device()) {
      throw invalid("create queue pair: the protection domain is another device's");
    }
    if (options.type() != space.type()) {
      throw invalid(
          "create queue pair: type: " + options.type() + " (expected: " + space.type() + ")");
    }
    synchronized (manager.steps()) {
      if (closed || queuePair != null) {
        throw invalid("create queue pair: it has one, or is closed");
      }
      if (state != State.RESOLVED && state != State.REQUESTED && !callerGone) {
        throw invalid("create queue pair: state: " + state + " (expected: RESOLVED, REQUESTED)");
      }
      DisniQueuePair pair = callerGone ? inInit(ours, options) : create(ours, options);
      queuePair = pair;
      return pair;
    }
  }

  /**
   * Creates the queue pair for a request that the peer has given up. The kernel no longer knows the
   * request, so this method itself moves the queue pair to INIT.
   */
  private DisniQueuePair inInit(DisniProtectionDomain domain, QueuePairOptions options) {
    DisniQueuePair pair = domain.createQueuePair(options);
    boolean ready = false;
    try {
      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(manager.device().at().number())
              .access(manager.device().context().remoteRights()));
      ready = true;
      return pair;
    } finally {
      if (!ready) {
        pair.close();
      }
    }
  }

  private boolean isDatagram() {
    return space == PortSpace.UDP;
  }

  private int mostData(int ofConnections, int ofDatagrams) {
    return isDatagram() ? ofDatagrams : ofConnections;
  }

  /**
   * Creates the queue pair. If the peer has given up its request, the call fails with {@code
   * INVALID}; then creates it without the identifier, and {@link #accept} raises CONNECT_ERROR.
   */
  private DisniQueuePair create(DisniProtectionDomain domain, QueuePairOptions options) {
    try {
      return domain.createQueuePair(options, this);
    } catch (VerbsException e) {
      if (!isPassive || isDatagram() || e.error() != VerbsError.INVALID) {
        throw e;
      }
      DisniQueuePair pair = inInit(domain, options);
      end();
      callerGone = true;
      return pair;
    }
  }

  /** Puts a new queue pair into INIT; returns 0 or a negative errno. */
  int initialize(long pair) {
    return pairSteps.initialize(pair);
  }

  /**
   * Flushes the posted requests of a connection. If that fails, the device is gone and flushes
   * nothing.
   */
  private void abandon(DisniQueuePair pair) {
    if (!isDatagram()) {
      pair.step(pairSteps::toError);
      pair.moved(QueuePairState.ERR);
    }
  }

  /** Destroys the queue pair, also after its identifier; returns 0 or a negative errno. */
  int destroyQueuePair(long pair) {
    synchronized (manager.steps()) {
      return released || !isDatagram()
          ? core().destroyQueuePair(pair)
          : core().destroyConnectionQueuePair(pointer);
    }
  }

  @Override
  public void connect(ConnectionParameters offered, long timeoutNanos) {
    int mostData =
        mostData(
            ConnectionParameters.MAX_CONNECT_DATA, ConnectionParameters.MAX_DATAGRAM_CONNECT_DATA);
    ConnectionLimits.check("connect", offered, mostData, manager.device().attributes());
    synchronized (manager.steps()) {
      requireState("connect", State.RESOLVED, true);
      ParameterBlock parameters =
          new ParameterBlock(
              offered,
              requireNonNull(queuePair),
              offered.responderResources(),
              offered.initiatorDepth());
      peerServes = offered.initiatorDepth();
      int begun = core().connect(pointer, parameters.address());
      parameters.keep();
      if (isIwarp() && endsAtOnce(begun)) {
        return;
      }
      Errno.check("connect", begun);
      state = State.CONNECTING;
      expireIn(timeoutNanos);
    }
  }

  /**
   * Ends the connection and raises REJECTED or UNREACHABLE, if {@code begun} is an error of an
   * attempt to connect; returns whether it is. An iWARP driver may connect its socket inside {@code
   * rdma_connect} ({@code siw_connect} of siw_cm.c) and so return the error that other drivers
   * raise later as an event.
   */
  private boolean endsAtOnce(int begun) {
    switch (-begun) {
      case Errno.ECONNREFUSED -> {
        abandon(requireNonNull(queuePair));
        end();
        raise(ConnectionEvent.Type.REJECTED, ConnectionEvent.REJECT_INVALID_SERVICE_ID);
      }
      case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH, Errno.ECONNRESET -> {
        end();
        raise(ConnectionEvent.Type.UNREACHABLE, begun);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean isIwarp() {
    return manager.device().context().quirks().isIwarp();
  }

  @Override
  public void accept(ConnectionParameters offered) {
    int mostData =
        mostData(
            ConnectionParameters.MAX_ACCEPT_DATA, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    ConnectionLimits.check("accept", offered, mostData, manager.device().attributes());
    synchronized (manager.steps()) {
      if (callerGone && !closed && queuePair != null) {
        callerGone = false;
        raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT);
        return;
      }
      requireState("accept", State.REQUESTED, true);
      DisniQueuePair pair = requireNonNull(queuePair);
      int initiatorDepth = Math.min(offered.initiatorDepth(), peerServes);
      ParameterBlock parameters =
          new ParameterBlock(offered, pair, offered.responderResources(), initiatorDepth);
      int ready =
          isDatagram()
              ? 0
              : pair.step(
                  made -> pairSteps.toReady(made, offered.responderResources(), initiatorDepth));
      int accepted = ready < 0 ? ready : core().accept(pointer, parameters.address());
      parameters.keep();
      if (isDatagram()) {
        Errno.check("accept", accepted);
        state = State.ANSWERED;
        return;
      }
      if (accepted < 0) {
        abandon(pair);
        // The peer gave up, or its request is no longer valid. The program gets the same event as
        // if the kernel had reported that before.
        end();
        raise(ConnectionEvent.Type.CONNECT_ERROR, accepted);
        return;
      }
      state = State.ACCEPTING;
      moved(QueuePairState.RTS);
    }
  }

  @Override
  public void reject(ByteBuffer privateData) {
    int mostData =
        mostData(
            ConnectionParameters.MAX_REJECT_DATA, ConnectionParameters.MAX_DATAGRAM_ACCEPT_DATA);
    ConnectionLimits.checkData("reject", privateData, mostData);
    synchronized (manager.steps()) {
      if (state == State.ENDED && !closed && !isDatagram()) {
        return;
      }
      requireState("reject", State.REQUESTED, false);
      Block data = Block.copyOf(privateData);
      end();
      // The peer may have gone meanwhile: then there is nothing to reject.
      int rejected = core().reject(pointer, data.address(), privateData.remaining());
      data.keep();
      if (rejected < 0 && rejected != -Errno.EINVAL && rejected != -Errno.ECONNRESET) {
        throw Errno.failure("reject", rejected);
      }
    }
  }

  @Override
  public void disconnect() {
    synchronized (manager.steps()) {
      if (closed || state != State.ESTABLISHED) {
        return;
      }
      state = State.DISCONNECTING;
      expireIn(DISCONNECT_NANOS);
      Errno.check(FLUSH, tearDown());
    }
  }

  /**
   * Puts the queue pair into ERR and disconnects from the peer. On iWARP it only disconnects, which
   * puts the queue pair into ERR: a queue pair in ERR would have no connection left to close in
   * order.
   *
   * @return 0, or a negative errno if the queue pair could not be put into ERR
   */
  private int tearDown() {
    boolean isIwarp = isIwarp();
    moved(QueuePairState.ERR);
    DisniQueuePair pair = queuePair;
    int failed = pair == null || isIwarp ? 0 : pair.fail();
    int result = core().disconnect(pointer);
    if (pair != null && isIwarp && result < 0) {
      failed = pair.fail();
    } else if (pair != null) {
      pair.flushRest();
    }
    return failed;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Also closes the connection if flushing its queue pair fails, and then throws.
   */
  @Override
  public void close() {
    synchronized (manager.steps()) {
      if (closed) {
        return;
      }
      int failed = 0;
      if (state == State.REQUESTED) {
        // If the reject fails, releasing the identifier informs the peer.
        core().reject(pointer, 0, 0);
      } else if (state == State.ESTABLISHED) {
        failed = tearDown();
      }
      State was = state;
      end();
      closed = true;
      lastLocal = null;
      lastRemote = null;
      release(was);
      manager.forget(this);
      Errno.check(FLUSH, failed);
    }
  }

  /**
   * Releases the kernel's identifier, which cancels its current step and informs the peer.
   *
   * @param was the state before {@link #end}
   */
  private void release(State was) {
    if (released) {
      return;
    }
    released = true;
    // The kernel waits while the driver is connecting (IWCM_F_CONNECT_WAIT of iwcm.c).
    if (isIwarp() && (was == State.CONNECTING || was == State.ACCEPTING)) {
      manager.releaseLater(pointer);
    } else {
      manager.release(pointer);
    }
  }

  // ---- events of the kernel

  /** Raises ADDR_ERROR because the call that resolves the address failed at once. */
  void unresolved(int status) {
    synchronized (manager.steps()) {
      failed(State.RESOLVING, ConnectionEvent.Type.ADDR_ERROR, status, NO_DATA);
    }
  }

  /** Returns whether the current step is overdue. */
  boolean isOverdue(long now) {
    synchronized (manager.steps()) {
      return manager.timed().contains(this) && now - deadline >= 0;
    }
  }

  /**
   * Ends the current step if it is overdue.
   *
   * @param now the time by {@link System#nanoTime}
   * @return the nanoseconds until the current step is overdue, or {@link Long#MAX_VALUE} if no step
   *     has a deadline
   */
  long expire(long now) {
    synchronized (manager.steps()) {
      if (!manager.timed().contains(this)) {
        return Long.MAX_VALUE;
      }
      if (now - deadline < 0) {
        return deadline - now;
      }
      State was = state;
      end();
      switch (was) {
        case RESOLVING -> giveUp(was, ConnectionEvent.Type.ADDR_ERROR);
        case CONNECTING -> giveUp(was, ConnectionEvent.Type.UNREACHABLE);
        case DISCONNECTING -> raise(ConnectionEvent.Type.DISCONNECTED, ConnectionEvent.TIMED_OUT);
        default -> {}
      }
      return Long.MAX_VALUE;
    }
  }

  /**
   * Releases the identifier and raises the timeout. Keeps the addresses first, because the program
   * may still log them.
   */
  private void giveUp(State was, ConnectionEvent.Type type) {
    lastLocal = localAddress();
    lastRemote = remoteAddress();
    release(was);
    raise(type, ConnectionEvent.TIMED_OUT);
  }

  /**
   * Handles an event of this connection.
   *
   * @param code a number of {@code enum rdma_cm_event_type}
   */
  void handle(int code, Block words, ByteBuffer data) {
    if (closed) {
      return;
    }
    int status = words.getInt(EventWords.STATUS);
    switch (code) {
      case CmEvent.ADDR_RESOLVED -> addressResolved();
      case CmEvent.ROUTE_RESOLVED -> routeResolved();
      case CmEvent.ADDR_ERROR, CmEvent.ROUTE_ERROR ->
          failed(State.RESOLVING, ConnectionEvent.Type.ADDR_ERROR, status, data);
      case CmEvent.CONNECT_RESPONSE -> answered(words, data);
      case CmEvent.CONNECT_ERROR, CmEvent.UNREACHABLE, CmEvent.REJECTED ->
          refused(CmEvent.refusal(code), status, data);
      case CmEvent.ESTABLISHED -> established(words, data);
      case CmEvent.DISCONNECTED -> disconnected();
      case CmEvent.DEVICE_REMOVAL -> deviceRemoved();
      case CmEvent.ADDR_CHANGE -> raise(ConnectionEvent.Type.ADDR_CHANGE, status);
      default -> {}
    }
  }

  private void addressResolved() {
    if (state != State.RESOLVING) {
      return;
    }
    if (!manager.device().has(pointer, space, options)) {
      end();
      raise(ConnectionEvent.Type.ADDR_ERROR, -Errno.ENODEV);
      return;
    }
    long left = Math.max(1, (addressDeadline - System.nanoTime()) / 1_000_000);
    try {
      core().resolveRoute(pointer, (int) Math.min(Integer.MAX_VALUE, left));
    } catch (IOException e) {
      end();
      raise(ConnectionEvent.Type.ADDR_ERROR, -Errno.of(e));
    }
  }

  /** Raises ADDR_RESOLVED: the SPI has one step for the address and its route. */
  private void routeResolved() {
    if (state == State.RESOLVING) {
      state = State.RESOLVED;
      clearDeadline();
      raise(ConnectionEvent.Type.ADDR_RESOLVED, 0);
    }
  }

  private void failed(State expected, ConnectionEvent.Type type, int status, ByteBuffer data) {
    if (state == expected) {
      end();
      raise(type, status, data, 0, 0);
    }
  }

  /** Handles the peer's accept: moves the queue pair to RTS before it tells the peer so. */
  private void answered(Block words, ByteBuffer data) {
    DisniQueuePair pair = queuePair;
    if (state != State.CONNECTING || pair == null) {
      return;
    }
    int done = pair.step(pairSteps::toReady);
    done = done < 0 ? done : core().establish(pointer);
    if (done < 0) {
      abandon(pair);
      failed(State.CONNECTING, ConnectionEvent.Type.CONNECT_ERROR, done, NO_DATA);
    } else {
      established(words, data);
    }
  }

  /** Handles CONNECT_ERROR, UNREACHABLE or REJECTED. */
  private void refused(ConnectionEvent.Type type, int status, ByteBuffer data) {
    if (state == State.REQUESTED) {
      end();
      callerGone = !isDatagram();
    } else if (state == State.ACCEPTING) {
      // The queue pair is in RTS already, and nothing else would flush it.
      abandon(requireNonNull(queuePair));
      end();
      raise(ConnectionEvent.Type.CONNECT_ERROR, status);
    } else {
      DisniQueuePair pair = queuePair;
      if (type == ConnectionEvent.Type.REJECTED && state == State.CONNECTING && pair != null) {
        abandon(pair);
      }
      failed(State.CONNECTING, type, status, data);
    }
  }

  private void established(Block words, ByteBuffer data) {
    if (state == State.ACCEPTING) {
      state = State.ESTABLISHED;
      raise(ConnectionEvent.Type.ESTABLISHED, 0, NO_DATA, peerServes, peerAsks);
    } else if (state == State.CONNECTING && isDatagram()) {
      state = State.ANSWERED;
      clearDeadline();
      manager.raise(
          new ConnectionEvent(
              ConnectionEvent.Type.ESTABLISHED,
              this,
              null,
              0,
              data,
              0,
              0,
              CmEvent.datagramPeer(words)));
    } else if (state == State.CONNECTING) {
      state = State.ESTABLISHED;
      clearDeadline();
      moved(QueuePairState.RTS);
      raise(
          ConnectionEvent.Type.ESTABLISHED,
          0,
          data,
          words.getInt(EventWords.INITIATOR_DEPTH),
          words.getInt(EventWords.RESPONDER_RESOURCES));
    }
  }

  private void disconnected() {
    int failed = 0;
    if (state == State.ESTABLISHED || state == State.ACCEPTING) {
      // Answers the disconnect, and flushes the outstanding requests.
      failed = tearDown();
    }
    if (state == State.ACCEPTING) {
      end();
      raise(ConnectionEvent.Type.CONNECT_ERROR, ConnectionEvent.TIMED_OUT);
    } else if (state == State.ESTABLISHED || state == State.DISCONNECTING) {
      end();
      raise(ConnectionEvent.Type.DISCONNECTED, failed);
    }
  }

  /** Raises DEVICE_REMOVAL: the kernel has reported it for this connection or for another one. */
  void deviceRemoved() {
    if (state != State.ENDED) {
      int failed = 0;
      if (state == State.ESTABLISHED || state == State.ACCEPTING || isDatagram()) {
        // The kernel removes the device only after its objects are released, and flushes nothing
        // before.
        failed = tearDown();
      }
      end();
      raise(ConnectionEvent.Type.DEVICE_REMOVAL, failed);
    }
  }

  private void end() {
    state = State.ENDED;
    clearDeadline();
  }

  /** Cancels the deadline of the current step, which is done or no longer matters. */
  private void clearDeadline() {
    manager.timed().remove(this);
  }

  private void expireIn(long nanos) {
    deadline = System.nanoTime() + nanos;
    manager.timed().add(this);
    manager.deadlineSet();
  }

  private void moved(QueuePairState to) {
    DisniQueuePair pair = queuePair;
    if (pair != null) {
      pair.moved(to);
    }
  }

  private void raise(ConnectionEvent.Type type, int status) {
    raise(type, status, NO_DATA, peerServes, peerAsks);
  }

  private void raise(ConnectionEvent.Type type, int status, ByteBuffer data, int serves, int asks) {
    manager.raise(new ConnectionEvent(type, this, null, status, data, serves, asks));
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

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
