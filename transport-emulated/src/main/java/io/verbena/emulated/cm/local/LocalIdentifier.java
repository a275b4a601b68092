// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.hca.Scheduled;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection or of a datagram resolution by name: the request, its deadline, and the
 * queue pair. Both ends share a lock, under which their states change together.
 */
abstract sealed class LocalIdentifier extends ManagedIdentifier
    permits LocalConnection, LocalDatagrams {
  /**
   * The delay before a request that found the backlog full is sent again; the kernel's delay is 4
   * s.
   */
  private static final long REQUEST_RETRY_NANOS = 20_000_000;

  final LocalConnectionManager manager;
  final String name;
  final int mostConnectData;
  ConnectionParameters parameters = ConnectionParameters.defaults();

  private final PortSpace space;

  /**
   * The scheduled end of the wait for an answer, which keeps this identifier reachable; null
   * without a wait.
   */
  private @Nullable Scheduled deadline;

  LocalIdentifier(
      LocalConnectionManager manager,
      PortSpace space,
      String name,
      Object lock,
      State state,
      int mostConnectData) {
    super(manager.device(), space, lock, state);
    this.manager = manager;
    this.space = space;
    this.name = name;
    this.mostConnectData = mostConnectData;
  }

  /**
   * Creates the passive end and returns its request event for the listener's manager; null if the
   * request was withdrawn. The caller makes sure that the listener is not closed meanwhile.
   */
  final @Nullable ConnectionEvent request(LocalListener listener, ByteBuffer data) {
    synchronized (lock) {
      return asks() ? requestNow(listener, data) : null;
    }
  }

  /**
   * Creates the passive end and its request event; called under the lock, while this end waits for
   * an answer.
   */
  abstract ConnectionEvent requestNow(LocalListener listener, ByteBuffer data);

  /** Returns whether this end waits for an answer; called under the lock. */
  private boolean asks() {
    return !closed && state == State.CONNECTING;
  }

  /** Raises the event for a name without a listener; called under the lock. */
  abstract void nobodyListens();

  /** Called under the lock when the wait for an answer timed out. */
  abstract void gaveUp();

  /** Notifies the peer, if necessary, that this end is closed; called under the lock. */
  abstract void leave();

  @Override
  public final LocalConnectionManager manager() {
    return manager;
  }

  @Override
  public final String peer() {
    return "emulated://" + name;
  }

  /** Returns null, since there are no addresses within a process. */
  @Override
  public final @Nullable InetSocketAddress localAddress() {
    return null;
  }

  @Override
  public final @Nullable InetSocketAddress remoteAddress() {
    return null;
  }

  @Override
  public final void connect(ConnectionParameters offered, long timeoutNanos) {
    check("connect", offered, mostConnectData);
    ByteBuffer data = copy(offered.privateData());
    manager.device().requireWhole("connect");
    synchronized (lock) {
      requireQueuePair("connect", State.RESOLVED);
      state = State.CONNECTING;
      parameters = offered;
    }
    // Sends the request even if the timeout is 0.
    ask(data);
    synchronized (lock) {
      if (asks()) {
        deadline = manager.device().schedule(this::connectTimedOut, timeoutNanos);
      }
    }
  }

  /** Moves to a state, and ends the wait for an answer, if any; called under the lock. */
  final void endWait(State next) {
    state = next;
    Scheduled set = deadline;
    if (set != null) {
      deadline = null;
      set.cancel();
    }
  }

  /** Sends the request, and repeats it while the listener's backlog is full. */
  private void ask(ByteBuffer data) {
    LocalListener listener = manager.reachable().listener(space, name);
    synchronized (lock) {
      if (!asks()) {
        return;
      }
      if (listener == null) {
        endWait(State.ENDED);
        nobodyListens();
        return;
      }
    }
    if (listener.manager().device().isBroken() || !listener.offer(this, data)) {
      manager.device().schedule(() -> ask(data), REQUEST_RETRY_NANOS);
    }
  }

  private void connectTimedOut() {
    synchronized (lock) {
      if (asks()) {
        endWait(State.ENDED);
        gaveUp();
        raise(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.TIMED_OUT, NO_DATA);
      }
    }
  }

  @Override
  public final void close() {
    boolean ended = false;
    while (!ended) {
      disconnect();
      synchronized (lock) {
        if (closed) {
          return;
        }
        // The peer may have accepted meanwhile; the connection is then disconnected.
        ended = state != State.ESTABLISHED;
        if (ended) {
          leave();
          endWait(State.ENDED);
          closed = true;
        }
      }
    }
    manager.forget(this);
    manager.closed(this);
  }

  /**
   * Reports the device's failure to this end's program. The peer gets no event, since a failed
   * device sends nothing.
   */
  final void deviceRemoved() {
    synchronized (lock) {
      endWait(State.ENDED);
      raise(ConnectionEvent.Type.DEVICE_REMOVAL, 0, NO_DATA);
    }
  }

  final void raise(ConnectionEvent.Type type, int status, ByteBuffer data) {
    raise(new ConnectionEvent(type, this, null, status, data, 0, 0));
  }

  final void raise(ConnectionEvent event) {
    if (!closed) {
      manager.raise(event);
    }
  }

  static ByteBuffer copy(ByteBuffer data) {
    ByteBuffer copy = ByteBuffer.allocate(data.remaining());
    copy.put(0, data, data.position(), data.remaining());
    return copy.asReadOnlyBuffer();
  }
}
