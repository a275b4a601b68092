// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A connection manager whose events name the wrappers of identifiers and listeners. */
final class SanitizedManager implements ConnectionManager {
  private final SanitizedDevice device;
  private final ConnectionManager manager;
  private final TrackedObject tracked;
  private final Map<ConnectionIdentifier, SanitizedIdentifier> identifiers = new HashMap<>();
  private final Map<ConnectionListener, SanitizedListener> listeners = new HashMap<>();

  SanitizedManager(SanitizedDevice device, ConnectionManager manager, CallSite place) {
    this.device = device;
    this.manager = manager;
    tracked = TrackedObject.of(this, device.watched(), "connection manager", place);
  }

  WatchedDevice watched() {
    return device.watched();
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public ConnectionListener listen(PortSpace space, URI address, int backlog) {
    // Holds the lock, so that an event of this listener finds its wrapper.
    synchronized (listeners) {
      ConnectionListener inner = manager.listen(space, address, backlog);
      SanitizedListener wrapper = new SanitizedListener(this, inner, CallSite.here());
      listeners.put(inner, wrapper);
      return wrapper;
    }
  }

  void remove(SanitizedListener listener) {
    synchronized (listeners) {
      listeners.remove(listener.listener());
    }
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    synchronized (identifiers) {
      return wrap(manager.resolve(space, address, timeoutNanos));
    }
  }

  /** Returns the wrapper of an identifier; called under the monitor of {@code identifiers}. */
  private SanitizedIdentifier wrap(ConnectionIdentifier inner) {
    SanitizedIdentifier known = identifiers.get(inner);
    if (known != null) {
      return known;
    }
    SanitizedIdentifier wrapper = new SanitizedIdentifier(this, inner, CallSite.here());
    identifiers.put(inner, wrapper);
    return wrapper;
  }

  void remove(SanitizedIdentifier identifier) {
    synchronized (identifiers) {
      identifiers.remove(identifier.identifier());
    }
  }

  @Override
  public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    ConnectionEvent event = manager.await(timeoutNanos);
    if (event == null) {
      return null;
    }
    SanitizedIdentifier identifier;
    synchronized (identifiers) {
      identifier = wrap(event.identifier());
    }
    if (event.type() == ConnectionEvent.Type.ESTABLISHED) {
      identifier.established();
    }
    return event.of(identifier, listener(event.listener()));
  }

  private @Nullable ConnectionListener listener(@Nullable ConnectionListener inner) {
    if (inner == null) {
      return null;
    }
    synchronized (listeners) {
      SanitizedListener wrapper = listeners.get(inner);
      return wrapper == null ? inner : wrapper;
    }
  }

  @Override
  public void close() {
    manager.close();
    tracked.closed();
  }
}
