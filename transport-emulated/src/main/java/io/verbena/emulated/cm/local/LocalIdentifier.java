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
 * One end of a request by name and of its result, a connection or an answer: the request, its
 * deadline, and the queue pair. Both ends share a lock, under which their states change together.
 */
abstract sealed class LocalIdentifier extends ManagedIdentifier
    permits LocalConnection, LocalDatagrams {
  /** The delay before a request that did not fit the backlog is sent again; the kernel's is 4 s. */
  private static final long REQUEST_RETRY_NANOS = 20_000_000;

  final LocalConnectionManager manager;
  final String name;
  final int mostConnectData;
  ConnectionParameters parameters = ConnectionParameters.defaults();

  private final PortSpace space;

  /** The end of the wait for an answer, which keeps this identifier; null if it does not wait. */
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
   * Returns the request as an event of the listener's manager, with the passive end; null if it was
   * withdrawn. The listener cannot be closed meanwhile.
   */
  final @Nullable ConnectionEvent request(LocalListener listener, ByteBuffer data) {
    synchronized (lock) {
      return asks() ? requestNow(listener, data) : null;
    }
  }

  /** Makes the request's event; called under the lock, while it waits for an answer. */
  abstract ConnectionEvent requestNow(LocalListener listener, ByteBuffer data);

  /** Returns whether it waits for an answer; called under the lock. */
  private boolean asks() {
    return !closed && state == State.CONNECTING;
  }

  /** Raises the event that there is no listener; called under the lock. */
  abstract void nobodyListens();

  /** Called under the lock when nobody answered in time. */
  abstract void gaveUp();

  /** Tells the peer of this end's close, if it has to know; called under the lock. */
  abstract void leave();

  @Override
  public final LocalConnectionManager manager() {
    return manager;
  }

  @Override
  public final String peer() {
    return "emulated://" + name;
  }

  /** Returns null: within a process there are no addresses. */
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
    // The request is sent even if the time for its answer is 0.
    ask(data);
    synchronized (lock) {
      if (asks()) {
        deadline = manager.device().schedule(this::connectTimedOut, timeoutNanos);
      }
    }
  }

  /** Ends the wait for an answer, if it waits; called under the lock. */
  final void endWait(State next) {
    state = next;
    Scheduled set = deadline;
    if (set != null) {
      deadline = null;
      set.cancel();
    }
  }

  /** Sends the request; repeats it while the backlog of the listener is full. */
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
        // The peer may have accepted since: then there is a connection to end, and a peer to tell.
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

  /** Reports the device's failure to its own program, not to the peer, as nothing is sent. */
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
