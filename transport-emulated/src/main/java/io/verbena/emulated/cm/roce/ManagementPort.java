// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmAgent;
import io.verbena.emulated.cm.protocol.CmMessage;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.cm.protocol.CmPort;
import io.verbena.emulated.cm.protocol.IpAddressing;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.MadFault;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.packet.PacketCounters.Reason;
import io.verbena.emulated.packet.PacketPort;
import io.verbena.emulated.packet.PortManagement;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Queue pair 1 of a port: passes management datagrams between the wire and the agent. */
final class ManagementPort implements CmPort, PortManagement {
  private final HostFabric fabric;
  private final PacketPort port;
  private final Mtu mtu;
  private final Mtu lockedMtu;
  private final Secrets secrets;
  private final long guid;
  private final RocePacket outgoing;
  private final ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
  private @Nullable CmAgent agent;
  private int psn;

  ManagementPort(HostFabric fabric) {
    this.fabric = fabric;
    port = fabric.port();
    outgoing = port.packet();
    mtu = fabric.mtu();
    lockedMtu = fabric.lockedMtu();
    secrets = fabric.secrets();
    guid = secrets.nextLong() | 1;
  }

  /** Sets the agent to which received messages are passed. */
  void serve(CmAgent served) {
    agent = served;
  }

  @Override
  public void established(int queuePairNumber) {
    CmAgent to = agent;
    if (to != null) {
      to.packetCame(queuePairNumber);
    }
  }

  @Override
  public void departed(Gid peer) {
    CmAgent of = agent;
    if (of != null) {
      of.departed(peer);
    }
  }

  @Override
  public boolean isQuiet() {
    CmAgent of = agent;
    return of == null || of.isQuiet();
  }

  @Override
  public void receive(RocePacket packet) {
    CmAgent to = agent;
    ByteBuffer bytes = packet.payload().slice(packet.payloadIndex(), packet.payloadLength());
    if (to == null
        || packet.opcode() != PacketOpcode.UD_SEND_ONLY
        || packet.queueKey() != Mad.QUEUE_KEY
        || packet.sourceQueuePair() != PacketPort.MANAGEMENT
        || Mad.check(bytes) != MadFault.NONE) {
      port.counters().count(Reason.MANAGEMENT);
      return;
    }
    CmMessage message = Mad.read(bytes);
    to.receive(message, sender(message, packet));
  }

  /**
   * Returns the GID of a message's sender. A SIDR_REQ does not contain the GID, but one from an
   * emulated HCA contains its UDP port.
   */
  private static Gid sender(CmMessage message, RocePacket packet) {
    if (message instanceof ServiceRequest request && !packet.isOverIpv6()) {
      IpAddressing from = IpAddressing.read(request.privateData());
      if (from != null) {
        return UdpGid.of(packet.sourceAddress(), from.udpPort());
      }
    }
    return UdpGid.ofSource(packet);
  }

  @Override
  public void send(CmMessage message, Gid to) {
    Mad.write(message, mad);
    outgoing
        .start(PacketOpcode.UD_SEND_ONLY)
        .destinationQueuePair(PacketPort.MANAGEMENT)
        .psn(psn++ & 0xff_ffff)
        .sourcePort(PacketPort.MANAGEMENT)
        .queueKey(Mad.QUEUE_KEY)
        .sourceQueuePair(PacketPort.MANAGEMENT)
        .append(mad, 0, Mad.LENGTH);
    port.send(outgoing, to);
  }

  @Override
  public @Nullable UnreachableReports unreachableReports(Gid of) {
    return fabric.unreachableReports(PacketPort.MANAGEMENT, of);
  }

  @Override
  public Gid gid() {
    return port.gid();
  }

  @Override
  public long guid() {
    return guid;
  }

  @Override
  public int mtu() {
    return mtu.code();
  }

  @Override
  public int lockedMtu() {
    return lockedMtu.code();
  }

  @Override
  public boolean isFrom(Gid source, Gid peer) {
    return UdpGid.areNeighbors(source, peer);
  }

  @Override
  public int nextSecret() {
    return secrets.nextInt();
  }
}
