// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.address.EmulatedAddress;
import io.verbena.emulated.cm.EventQueue;
import io.verbena.emulated.hca.DeviceListener;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager that connects by name within this JVM. Its event queue is bounded: it holds
 * a few events for each open identifier, and the backlog of each listener.
 */
final class LocalConnectionManager implements ConnectionManager, DeviceListener {

  /** The kinds of objects that a connection manager owns. */
  enum Kind {
    LISTENER,
    IDENTIFIER
  }

  private static final int MAX_BACKLOG = 1 << 16;
  private static final String ANY_PORT = ":0";

  /** The first dynamic port; dynamic ports are never assigned (RFC 6335, section 6). */
  private static final int FIRST_FREE_PORT = 49_152;

  private final EmulatedDevice device;
  private final LocalConnectionManagers reachable;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);
  private final EventQueue events = new EventQueue();
  private final Set<LocalIdentifier> identifiers = ConcurrentHashMap.newKeySet();

  LocalConnectionManager(EmulatedDevice device, LocalConnectionManagers reachable) {
    this.device = device;
    this.reachable = reachable;
  }

  @Override
  public EmulatedDevice device() {
    return device;
  }

  /** Returns the managers that this one can reach, including itself. */
  LocalConnectionManagers reachable() {
    return reachable;
  }

  @Override
  public LocalListener listen(PortSpace space, URI address, int backlog) {
    require(space);
    String name = EmulatedAddress.parse(address).name();
    if (backlog < 1 || backlog > MAX_BACKLOG) {
      throw new VerbsException(
          VerbsError.INVALID,
          "listen: backlog: " + backlog + " (expected: 1.." + MAX_BACKLOG + ")");
    }
    device.requireWhole("listen");
    open.opened(Kind.LISTENER, Integer.MAX_VALUE);
    LocalListener listener =
        name.endsWith(ANY_PORT)
            ? listenOnFreePort(space, address, name, backlog)
            : listenOn(space, address, name, backlog);
    if (listener == null) {
      open.closed(Kind.LISTENER);
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE, "listen: " + address + " is listened on already");
    }
    return listener;
  }

  private @Nullable LocalListener listenOn(PortSpace space, URI address, String name, int backlog) {
    LocalListener listener = new LocalListener(this, space, address, name, backlog);
    return reachable.listen(space, name, listener) ? listener : null;
  }

  /** Listens on a free port, for a name with port 0. */
  private @Nullable LocalListener listenOnFreePort(
      PortSpace space, URI address, String name, int backlog) {
    for (int port = FIRST_FREE_PORT; port < 1 << 16; port++) {
      String tried = name.substring(0, name.length() - ANY_PORT.length()) + ':' + port;
      URI bound = URI.create(address.toString().replace("://" + name, "://" + tried));
      LocalListener listener = listenOn(space, bound, tried, backlog);
      if (listener != null) {
        return listener;
      }
    }
    return null;
  }

  @Override
  public LocalIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    require(space);
    device.requireWhole("resolve");
    String name = EmulatedAddress.parse(address).name();
    LocalIdentifier identifier =
        switch (space) {
          case TCP -> LocalConnection.active(this, name);
          case UDP -> LocalDatagrams.active(this, name);
        };
    identifier.raise(ConnectionEvent.Type.ADDR_RESOLVED, 0, LocalIdentifier.NO_DATA);
    return identifier;
  }

  @Override
  public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    ConnectionEvent event = take(System.nanoTime() + Math.max(0, timeoutNanos));
    if (event != null && event.listener() instanceof LocalListener listener) {
      listener.taken();
    }
    return event;
  }

  private @Nullable ConnectionEvent take(long deadline) throws InterruptedException {
    synchronized (events) {
      while (true) {
        ConnectionEvent event = events.poll();
        if (event != null) {
          return event;
        }
        long left = deadline - System.nanoTime();
        if (open.isClosed()) {
          return null;
        }
        device.requireWhole("await connection event");
        if (left <= 0) {
          return null;
        }
        events.wait(left / 1_000_000, (int) (left % 1_000_000));
      }
    }
  }

  void raise(ConnectionEvent event) {
    synchronized (events) {
      events.add(event);
      events.notifyAll();
    }
  }

  /** Removes and returns the requests to a listener that the program has not taken. */
  List<ConnectionIdentifier> withdraw(LocalListener listener) {
    synchronized (events) {
      return events.withdraw(listener);
    }
  }

  /** Drops the events of a closed identifier that the program has not taken. */
  void forget(LocalIdentifier identifier) {
    synchronized (events) {
      events.forget(identifier);
    }
  }

  /** Registers a new identifier. */
  void opened(LocalIdentifier identifier) {
    open.opened(Kind.IDENTIFIER, Integer.MAX_VALUE);
    identifiers.add(identifier);
  }

  void closed(LocalIdentifier identifier) {
    identifiers.remove(identifier);
    open.closed(Kind.IDENTIFIER);
  }

  void closed(LocalListener listener) {
    open.closed(Kind.LISTENER);
  }

  /** Raises the device's removal for all identifiers, and ends the wait for an event. */
  @Override
  public void deviceFailed() {
    identifiers.forEach(LocalIdentifier::deviceRemoved);
    synchronized (events) {
      events.notifyAll();
    }
  }

  @Override
  public void close() {
    if (open.close("connection manager")) {
      synchronized (events) {
        events.notifyAll();
      }
      device.removeListener(this);
      device.connectionManagerClosed();
    }
  }

  private void require(PortSpace space) {
    if (space == PortSpace.UDP) {
      device.attributes().require(Capability.UNRELIABLE_DATAGRAM);
    }
  }
}
