// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a request by name and of what comes of it, a connection or an answer: the request, its
 * deadline, and the queue pair. Both ends share a lock, under which their states change together.
 */
abstract sealed class LocalIdentifier extends ManagedIdentifier
    permits LocalConnection, LocalDatagrams {
  /** How soon a request is sent again that did not fit the backlog; the kernel takes 4 s. */
  private static final long REQUEST_RETRY_NANOS = 20_000_000;

  final LocalConnectionManager manager;
  final String name;
  final int mostConnectData;
  ConnectionParameters parameters = ConnectionParameters.defaults();

  private final PortSpace space;

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
   * The request as an event of the listener's manager, with the passive end; null if it is not
   * asked any more. While it is made, the listener cannot be closed.
   */
  final @Nullable ConnectionEvent request(LocalListener listener, ByteBuffer data) {
    synchronized (lock) {
      return asks() ? requestNow(listener, data) : null;
    }
  }

  /** Under the lock, while it asks. */
  abstract ConnectionEvent requestNow(LocalListener listener, ByteBuffer data);

  /** Under the lock: whether it waits for an answer. */
  private boolean asks() {
    return !closed && state == State.CONNECTING;
  }

  /** Under the lock: tells that there is no listener. */
  abstract void nobodyListens();

  /** Under the lock: nobody answered in time. */
  abstract void gaveUp();

  /** Under the lock: what the peer has to know of the end of this. */
  abstract void leave();

  @Override
  public final LocalConnectionManager manager() {
    return manager;
  }

  @Override
  public final String peer() {
    return "emulated://" + name;
  }

  /** Within a process there are no addresses. */
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
    // The request is sent however short the time for its answer.
    ask(data);
    manager.device().schedule(this::connectTimedOut, timeoutNanos);
  }

  /** Sends the request, again and again while the backlog of the listener is full. */
  private void ask(ByteBuffer data) {
    LocalListener listener = manager.reachable().listener(space, name);
    synchronized (lock) {
      if (!asks()) {
        return;
      }
      if (listener == null) {
        state = State.ENDED;
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
        state = State.ENDED;
        gaveUp();
        raise(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.TIMED_OUT, NO_DATA);
      }
    }
  }

  @Override
  public final void close() {
    disconnect();
    synchronized (lock) {
      if (closed) {
        return;
      }
      leave();
      state = State.ENDED;
      closed = true;
    }
    manager.forget(this);
    manager.closed(this);
  }

  /** The device has failed: its program is told, and the peer is not, as nothing is sent. */
  final void deviceRemoved() {
    synchronized (lock) {
      state = State.ENDED;
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
