// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.EventQueue;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.cm.protocol.CmAgent;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.Range;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Connects, and asks for datagrams, by {@code rdma_cm}'s protocol. What the driver of the HCA hears
 * of a connection it notes here; whoever awaits events takes the notes, moves the queue pair on,
 * and tells the event, as librdmacm does it. So no lock of a program's is ever waited for by the
 * driver.
 *
 * <p>Its queues are bounded by what can happen: a few notes and events for each open identifier,
 * and the backlog of each listener.
 */
final class RoceConnectionManager implements ConnectionManager {

  /** What a connection manager owns. */
  enum Kind {
    LISTENER,
    IDENTIFIER
  }

  private static final int MAX_BACKLOG = 1 << 16;
  private static final int MAX_PORT = 0xffff;

  /** The first that nobody is assigned (RFC 6335, section 6). */
  private static final int FIRST_FREE_PORT = 49_152;

  private static final int FREE_PORTS = MAX_PORT + 1 - FIRST_FREE_PORT;

  /** One after the other: who still knows a port of which the listener is closed meets no other. */
  private static final AtomicInteger NEXT_FREE_PORT = new AtomicInteger();

  private final EmulatedDevice device;
  private final HostFabric fabric;
  private final CmAgent agent;
  private final HostNaming naming;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  /** Held while a note is acted on, so that those of one connection are in order. */
  private final Object steps = new Object();

  private final SourcePorts sourcePorts;

  private final EventQueue events = new EventQueue();
  private final ArrayDeque<Runnable> notes = new ArrayDeque<>();

  RoceConnectionManager(
      EmulatedDevice device, HostFabric fabric, CmAgent agent, HostNaming naming) {
    this.device = device;
    this.fabric = fabric;
    this.agent = agent;
    this.naming = naming;
    sourcePorts = SourcePorts.of(UdpGid.inetAddress(device.gid()), fabric.secrets().nextInt());
  }

  @Override
  public EmulatedDevice device() {
    return device;
  }

  HostFabric fabric() {
    return fabric;
  }

  /** For those who have entered the fabric: the connections of its port. */
  CmAgent agent() {
    return agent;
  }

  /** The ports that this HCA's identifiers ask from, and those of others at its address. */
  SourcePorts sourcePorts() {
    return sourcePorts;
  }

  /** The IP address of an HCA and a port there. */
  static InetSocketAddress socketAddress(Gid of, int port) {
    return new InetSocketAddress(UdpGid.inetAddress(of), port);
  }

  /** The HCA's address. */
  Gid gid() {
    return device.gid();
  }

  @Override
  public RoceListener listen(PortSpace space, URI address, int backlog) {
    HostNaming.Asked asked = naming.listen(space, address);
    Range.check("listen", "backlog", backlog, 1, MAX_BACKLOG);
    open.opened(Kind.LISTENER, Integer.MAX_VALUE);
    RoceListener listener = null;
    try {
      listener =
          asked.port() == 0
              ? listenOnFreePort(space, asked, backlog)
              : listenOn(space, asked, asked.port(), backlog);
    } finally {
      if (listener == null) {
        open.closed(Kind.LISTENER);
      }
    }
    if (listener == null) {
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE, "listen: " + address + " is listened on already");
    }
    return listener;
  }

  private @Nullable RoceListener listenOnFreePort(
      PortSpace space, HostNaming.Asked asked, int backlog) {
    for (int i = FIRST_FREE_PORT; i <= MAX_PORT; i++) {
      int port = FIRST_FREE_PORT + Math.floorMod(NEXT_FREE_PORT.getAndIncrement(), FREE_PORTS);
      RoceListener listener = isFree(space, port) ? listenOn(space, asked, port, backlog) : null;
      if (listener != null) {
        return listener;
      }
    }
    return null;
  }

  private boolean isFree(PortSpace space, int port) {
    long service = ServiceId.of(space.code(), port);
    fabric.enter();
    try {
      return switch (space) {
        case TCP -> !agent.isListening(service);
        case UDP -> !agent.services().isListening(service);
      };
    } finally {
      fabric.leave();
    }
  }

  private @Nullable RoceListener listenOn(
      PortSpace space, HostNaming.Asked asked, int port, int backlog) {
    long service = ServiceId.of(space.code(), port);
    HostNaming.Claim claim = asked.claim(port);
    if (claim == null) {
      return null;
    }
    RoceListener listener = new RoceListener(this, claim, service, backlog, asked.key());
    fabric.enter();
    try {
      boolean listens =
          switch (space) {
            case TCP -> agent.listen(service, listener);
            case UDP -> agent.services().listen(service, listener);
          };
      if (listens) {
        return listener;
      }
    } finally {
      fabric.leave();
    }
    claim.close();
    return null;
  }

  /** A peer, for people. */
  String name(Gid peer, int port) {
    return naming.name(peer, port);
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    HostNaming.Destination to = naming.resolve(space, address);
    ConnectionIdentifier resolved =
        switch (space) {
          case TCP -> RoceConnection.resolved(this, to);
          case UDP -> RoceDatagrams.resolved(this, to);
        };
    raise(
        new ConnectionEvent(
            ConnectionEvent.Type.ADDR_RESOLVED,
            resolved,
            null,
            0,
            ManagedIdentifier.NO_DATA,
            0,
            0));
    return resolved;
  }

  @Override
  public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    long deadline = System.nanoTime() + Math.max(0, timeoutNanos);
    while (true) {
      ConnectionEvent event = next();
      if (event != null) {
        return event;
      }
      synchronized (events) {
        if (!events.isEmpty() || !notes.isEmpty()) {
          continue;
        }
        long left = deadline - System.nanoTime();
        if (open.isClosed() || left <= 0) {
          return null;
        }
        events.wait(left / 1_000_000, (int) (left % 1_000_000));
      }
    }
  }

  private @Nullable ConnectionEvent next() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    synchronized (steps) {
      Runnable note;
      do {
        synchronized (events) {
          ConnectionEvent event = events.poll();
          if (event != null) {
            if (event.listener() instanceof RoceListener listener) {
              listener.taken();
            }
            return event;
          }
          note = notes.poll();
        }
        if (note != null) {
          note.run();
        }
      } while (note != null);
      return null;
    }
  }

  /** For the driver: has something done by whoever awaits events. */
  void note(Runnable step) {
    synchronized (events) {
      notes.add(step);
      events.notifyAll();
    }
  }

  void raise(ConnectionEvent event) {
    synchronized (events) {
      events.add(event);
      events.notifyAll();
    }
  }

  /** Forgets what has not been told yet of an identifier that is closed. */
  void forget(ManagedIdentifier identifier) {
    synchronized (events) {
      events.forget(identifier);
    }
  }

  void closed(RoceListener listener) {
    fabric.enter();
    try {
      agent.unlisten(listener.serviceId(), listener);
      agent.services().unlisten(listener.serviceId(), listener);
    } finally {
      fabric.leave();
    }
    listener.claim().close();
    List<ConnectionIdentifier> requests;
    synchronized (events) {
      requests = events.withdraw(listener);
    }
    for (ConnectionIdentifier request : requests) {
      request.close();
    }
    closed(Kind.LISTENER);
  }

  void opened(Kind kind) {
    open.opened(kind, Integer.MAX_VALUE);
  }

  void closed(Kind kind) {
    open.closed(kind);
  }

  @Override
  public void close() {
    if (open.close("connection manager")) {
      synchronized (events) {
        events.notifyAll();
      }
      sourcePorts.release();
      device.connectionManagerClosed();
    }
  }
}
