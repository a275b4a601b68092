// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A port that counts the messages to and from each IP address. The run fails when an unproven
 * address of neither program gets more than twice the messages that came from it; an address is
 * proven once a message from it contains an id that was sent to it. The run also fails when an
 * unproven connection gets more than {@value #MOST_UNPROVEN} times its messages, even if its
 * address is proven by another connection.
 */
final class CountingPort implements CmPort {
  private static final int MTU = 5;
  private static final int MOST_UNPROVEN = 5;

  /** Messages to and from an address or of a connection. */
  private static final class Traffic {
    final Set<Integer> idsSent = new HashSet<>();
    int received;
    int sent;
    boolean proven;
  }

  /** A connection, by the IP address and the id of the peer. */
  private record Name(int address, int id) {}

  /** Carries the messages that the port sends. */
  interface Outlet {
    void send(CountingPort from, CmMessage message, Gid to);
  }

  final CmAgent agent;
  private final RandomCmRun run;
  private final Gid gid;
  private final Outlet outlet;
  private final Map<Integer, Traffic> traffic = new HashMap<>();
  private final Map<Name, Traffic> ofConnections = new HashMap<>();

  CountingPort(RandomCmRun run, int address, PeerLimits limits, Outlet outlet) {
    this.run = run;
    this.outlet = outlet;
    gid = UdpGid.of(address, RocePacket.UDP_PORT);
    agent = new CmAgent(this, run.time, limits);
  }

  private Traffic with(int address) {
    return traffic.computeIfAbsent(address, key -> new Traffic());
  }

  @Override
  public void send(CmMessage message, Gid to) {
    Traffic there = with(UdpGid.address(to));
    there.sent++;
    if (message.localId() != 0) {
      there.idsSent.add(message.localId());
    }
    if (!there.proven && !run.isHonest(to) && there.sent > 2 * there.received) {
      throw new AssertionError(
          "messages to " + to + ": " + there.sent + " for " + there.received + ": " + message);
    }
    if (message.remoteId() != 0) {
      Traffic connection = of(UdpGid.address(to), message.remoteId());
      connection.sent++;
      if (!connection.proven && connection.sent > MOST_UNPROVEN * connection.received) {
        throw new AssertionError(
            "for one connection of " + to + ": " + connection.sent + ": " + message);
      }
    }
    outlet.send(this, message, to);
  }

  private Traffic of(int address, int id) {
    return ofConnections.computeIfAbsent(new Name(address, id), key -> new Traffic());
  }

  /** Records a packet for a connection's queue pair, whose number only the true peer knows. */
  void proven(int address, int id) {
    of(address, id).proven = true;
  }

  /** Delivers any bytes to the port. */
  void arrive(ByteBuffer mad, int sourceAddress) {
    Traffic there = with(sourceAddress);
    there.received++;
    if (Mad.check(mad) != MadFault.NONE) {
      return;
    }
    CmMessage message = Mad.read(mad);
    there.proven |= message.remoteId() != 0 && there.idsSent.contains(message.remoteId());
    Traffic connection = of(sourceAddress, message.localId());
    connection.received++;
    connection.proven |= message.remoteId() != 0 && there.idsSent.contains(message.remoteId());
    agent.receive(message, sender(message, sourceAddress));
    run.checkBounds();
  }

  /** Returns the sender as queue pair 1 does: a SIDR_REQ has its UDP port in its private data. */
  private static Gid sender(CmMessage message, int address) {
    IpAddressing from =
        message instanceof ServiceRequest request ? IpAddressing.read(request.privateData()) : null;
    return UdpGid.of(address, from == null ? RocePacket.UDP_PORT : from.udpPort());
  }

  @Override
  public Gid gid() {
    return gid;
  }

  @Override
  public long guid() {
    return gid.low();
  }

  @Override
  public int mtu() {
    return MTU;
  }

  @Override
  public boolean isFrom(Gid source, Gid peer) {
    return UdpGid.areNeighbors(source, peer);
  }

  @Override
  public int nextSecret() {
    return run.random.nextInt();
  }
}
