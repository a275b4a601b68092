// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.address.RoceAddress;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.cm.protocol.CmAgent;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.lock.LockKey;
import io.verbena.emulated.packet.UdpFabric;
import io.verbena.emulated.roce.Frame;
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
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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

  private final EmulatedDevice device;
  private final UdpFabric fabric;
  private final CmAgent agent;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  /** Held while a note is acted on, so that those of one connection are in order. */
  private final Object steps = new Object();

  private final SourcePorts sourcePorts;

  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();
  private final ArrayDeque<Runnable> notes = new ArrayDeque<>();

  RoceConnectionManager(EmulatedDevice device, UdpFabric fabric, CmAgent agent) {
    this.device = device;
    this.fabric = fabric;
    this.agent = agent;
    sourcePorts = SourcePorts.of(UdpGid.inetAddress(device.gid()), fabric.secrets().nextInt());
  }

  @Override
  public EmulatedDevice device() {
    return device;
  }

  UdpFabric fabric() {
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
    RoceAddress parsed = RoceAddress.parse(address);
    Range.check("listen", "backlog", backlog, 1, MAX_BACKLOG);
    if (!parsed.host().isAnyLocalAddress()
        && !UdpGid.areNeighbors(UdpGid.of(parsed.host(), 0), gid())) {
      throw new VerbsException(
          VerbsError.INVALID,
          "listen: "
              + address
              + ": "
              + RoceAddress.text(parsed.host())
              + " (expected: "
              + host(gid())
              + ", the device's)");
    }
    if (parsed.udpPort() != 0 && parsed.udpPort() != fabric.udpPort()) {
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE,
          "listen: "
              + address
              + ": UDP port "
              + parsed.udpPort()
              + " is another HCA's; udp-port=0 takes any");
    }
    LockKey key = key("listen", space, parsed);
    open.opened(Kind.LISTENER, Integer.MAX_VALUE);
    RoceListener listener =
        parsed.port() == 0
            ? listenOnFreePort(space, parsed, backlog, key)
            : listenOn(space, parsed, parsed.port(), backlog, key);
    if (listener == null) {
      open.closed(Kind.LISTENER);
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE, "listen: " + address + " is listened on already");
    }
    return listener;
  }

  /** Datagrams have no connection whose keys could seal them. */
  private static @Nullable LockKey key(String verb, PortSpace space, RoceAddress of) {
    LockKey key = of.key();
    if (key != null && space == PortSpace.UDP) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED, verb + ": key-file (expected: none for datagrams)");
    }
    return key;
  }

  private @Nullable RoceListener listenOnFreePort(
      PortSpace space, RoceAddress asked, int backlog, @Nullable LockKey key) {
    for (int port = FIRST_FREE_PORT; port <= MAX_PORT; port++) {
      RoceListener listener = listenOn(space, asked, port, backlog, key);
      if (listener != null) {
        return listener;
      }
    }
    return null;
  }

  private @Nullable RoceListener listenOn(
      PortSpace space, RoceAddress asked, int port, int backlog, @Nullable LockKey key) {
    long service = ServiceId.of(space.code(), port);
    RoceListener listener = new RoceListener(this, bound(asked, port), service, backlog, key);
    fabric.enter();
    try {
      boolean listens =
          switch (space) {
            case TCP -> agent.listen(service, listener);
            case UDP -> agent.services().listen(service, listener);
          };
      return listens ? listener : null;
    } finally {
      fabric.leave();
    }
  }

  /** What a peer needs to know, and what its device must have in common with this one. */
  private URI bound(RoceAddress asked, int port) {
    StringBuilder text = new StringBuilder(RoceAddress.SCHEME + "://" + host(gid()) + ':' + port);
    char separator = '?';
    if (fabric.udpPort() != Frame.UDP_PORT) {
      text.append(separator).append("udp-port=").append(fabric.udpPort());
      separator = '&';
    }
    if (asked.mtu() != null) {
      text.append(separator).append("mtu=").append(fabric.mtu().bytes());
      separator = '&';
    }
    String keyFile = asked.option(RoceAddress.Option.KEY_FILE);
    if (keyFile != null) {
      text.append(separator).append(RoceAddress.Option.KEY_FILE.text()).append('=');
      text.append(URLEncoder.encode(keyFile, StandardCharsets.UTF_8).replace("%2F", "/"));
    }
    return URI.create(text.toString());
  }

  static String host(Gid gid) {
    return RoceAddress.text(UdpGid.inetAddress(gid));
  }

  /** A peer, for people. */
  static String name(Gid peer, int port) {
    return RoceAddress.SCHEME + "://" + host(peer) + ':' + port;
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    RoceAddress parsed = RoceAddress.parse(address);
    if (parsed.port() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": port: 0 (expected: 1..65535)");
    }
    if (parsed.udpPort() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": udp-port: 0 (expected: 1..65535)");
    }
    Gid peer =
        parsed.host().isAnyLocalAddress()
            ? device.gid()
            : UdpGid.of(parsed.host(), parsed.udpPort());
    if (!UdpGid.isReachable(gid(), peer)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "resolve: "
              + address
              + ": "
              + RoceAddress.text(parsed.host())
              + " (expected: an address of the same kind as "
              + host(gid())
              + ", the device's)");
    }
    LockKey key = key("resolve", space, parsed);
    ConnectionIdentifier resolved =
        switch (space) {
          case TCP -> RoceConnection.resolved(this, peer, parsed.port(), parsed.mtu(), key);
          case UDP -> RoceDatagrams.resolved(this, peer, parsed.port());
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
  void forget(ConnectionIdentifier identifier) {
    synchronized (events) {
      events.removeIf(event -> event.identifier() == identifier);
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
    List<ConnectionIdentifier> requests = new ArrayList<>();
    synchronized (events) {
      events.removeIf(event -> event.listener() == listener && requests.add(event.identifier()));
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
