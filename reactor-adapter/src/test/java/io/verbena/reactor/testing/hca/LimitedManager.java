// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortSpace;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A connection manager whose queue pairs complete into limited queues. */
final class LimitedManager implements ConnectionManager {
  private final ConnectionManager manager;
  private final LimitedDevice device;
  private final ConcurrentHashMap<ConnectionIdentifier, LimitedIdentifier> identifiers =
      new ConcurrentHashMap<>();

  private final ConcurrentHashMap<ConnectionListener, LimitedListener> listeners =
      new ConcurrentHashMap<>();

  LimitedManager(ConnectionManager manager, LimitedDevice device) {
    this.manager = manager;
    this.device = device;
  }

  /** A listener that refuses to be closed as often as its device says. */
  private record LimitedListener(ConnectionListener inner, LimitedDevice device)
      implements ConnectionListener {
    @Override
    public URI address() {
      return inner.address();
    }

    @Override
    public void close() {
      device.close(inner, inner::close);
    }
  }

  private LimitedIdentifier limited(ConnectionIdentifier inner) {
    return identifiers.computeIfAbsent(inner, new1 -> new LimitedIdentifier(new1, this, device));
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public ConnectionListener listen(PortSpace space, URI address, int backlog) {
    LimitedListener listener =
        new LimitedListener(manager.listen(space, LimitedProvider.plain(address), backlog), device);
    listeners.put(listener.inner(), listener);
    return listener;
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    device.fault().at(Fault.Place.RESOLVE);
    return limited(manager.resolve(space, LimitedProvider.plain(address), timeoutNanos));
  }

  @Override
  public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    ConnectionEvent event = manager.await(timeoutNanos);
    if (event == null) {
      return null;
    }
    ConnectionListener listener = event.listener();
    return event.of(limited(event.identifier()), listener == null ? null : listeners.get(listener));
  }

  @Override
  public void close() {
    device.close(manager, manager::close);
  }
}
