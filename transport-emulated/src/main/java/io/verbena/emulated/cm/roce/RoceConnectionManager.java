// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.DrivenConnectionManager;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.cm.protocol.CmAgent;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.Gid;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.Range;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager that connects, and resolves datagram services, by {@code rdma_cm}'s
 * protocol.
 */
final class RoceConnectionManager extends DrivenConnectionManager {
  private static final int MAX_PORT = 0xffff;

  /** The first dynamic port; dynamic ports are never assigned (RFC 6335, section 6). */
  private static final int FIRST_FREE_PORT = 49_152;

  private static final int FREE_PORTS = MAX_PORT + 1 - FIRST_FREE_PORT;

  /**
   * Free ports are tried in turn, so that a peer that still connects to the port of a closed
   * listener does not reach another listener.
   */
  private static final AtomicInteger NEXT_FREE_PORT = new AtomicInteger();

  private final HostFabric fabric;
  private final CmAgent agent;
  private final HostNaming naming;
  private final SourcePorts sourcePorts;

  RoceConnectionManager(
      EmulatedDevice device, HostFabric fabric, CmAgent agent, HostNaming naming) {
    super(device);
    this.fabric = fabric;
    this.agent = agent;
    this.naming = naming;
    sourcePorts = SourcePorts.of(UdpGid.inetAddress(device.gid()), fabric.secrets().nextInt());
  }

  HostFabric fabric() {
    return fabric;
  }

  /** Returns the agent of the port. Callers of its methods have entered the fabric. */
  CmAgent agent() {
    return agent;
  }

  /** Returns the source ports of this HCA's active ends, shared with other HCAs at its address. */
  SourcePorts sourcePorts() {
    return sourcePorts;
  }

  /** Returns the IP address of an HCA with a port. */
  static InetSocketAddress socketAddress(Gid of, int port) {
    return new InetSocketAddress(UdpGid.inetAddress(of), port);
  }

  /** Returns the HCA's GID. */
  Gid gid() {
    return device().gid();
  }

  @Override
  public RoceListener listen(PortSpace space, URI address, int backlog) {
    HostNaming.Asked asked = naming.listen(space, address);
    Range.check("listen", "backlog", backlog, 1, MAX_BACKLOG);
    opened(Kind.LISTENER);
    RoceListener listener = null;
    try {
      listener =
          asked.port() == 0
              ? listenOnFreePort(space, asked, backlog)
              : listenOn(space, asked, asked.port(), backlog);
    } finally {
      if (listener == null) {
        closed(Kind.LISTENER);
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

  /** Returns the human-readable address of a peer, for logs. */
  String name(Gid peer, int port) {
    return naming.name(peer, port);
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    HostNaming.Destination to = naming.resolve(space, address);
    ConnectionIdentifier resolved =
        switch (space) {
          case TCP -> new ActiveRoceConnection(this, to);
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

  void closed(RoceListener listener) {
    fabric.entered(
        () -> {
          agent.unlisten(listener.serviceId(), listener);
          agent.services().unlisten(listener.serviceId(), listener);
        });
    try {
      listener.claim().close();
    } finally {
      withdraw(listener);
      closed(Kind.LISTENER);
    }
  }

  @Override
  protected void released() {
    sourcePorts.release();
  }
}
