// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.engine.PacketSink;
import io.verbena.emulated.engine.PeerWindow;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.packet.PacketCounters.Reason;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * A device's port on a wire. It addresses and seals the packets of its queue pairs, and accepts
 * only intact packets for one of them. It counts all other packets and drops them silently, as rxe
 * does: damaged packets, and those of other partitions, for unknown queue pairs, or from senders
 * that the queue pair is not connected to.
 */
public final class PacketPort implements PacketSink, Wire.Receiver {
  /** The number of the queue pair of connection managers, as in a {@link RocePacket}. */
  public static final int MANAGEMENT = 1;

  private static final int DEFAULT_PARTITION = 0xffff;

  private final PacketFabric fabric;
  private final Wire.Port wirePort;
  private final PacketCounters counters = new PacketCounters();

  /** The packet that is built and sent; there is one at a time. */
  private final RocePacket outgoing;

  /** The packet that the wire has no room for, and the UDP port of its destination. */
  private @Nullable RocePacket kept;

  private int keptTo;

  /** For packets of queue pairs with a cipher; null before there is one. */
  private @Nullable CipherWorkspace workspace;

  private boolean full;

  private QueuePairs queuePairs = number -> null;
  private @Nullable PortManagement management;
  private @Nullable PeerWindows windows;

  /** Queue pairs by number. */
  @FunctionalInterface
  interface QueuePairs {
    @Nullable EmulatedQueuePair find(int number);
  }

  PacketPort(PacketFabric fabric, Wire wire) {
    this.fabric = fabric;
    wirePort = wire.attach(this);
    outgoing = wirePort.packet();
  }

  /** Returns the GID of the port. */
  public Gid gid() {
    return wirePort.gid();
  }

  /** Sets the queue pairs that receive packets. */
  void queuePairs(QueuePairs owned) {
    queuePairs = owned;
  }

  /**
   * Limits the packets that queue pairs have in flight to one peer together; for queue pairs that
   * are connected from now on.
   */
  void limit(PeerWindows limits) {
    windows = limits;
  }

  /** Sets the receiver of packets for {@link #MANAGEMENT}. */
  void management(PortManagement responsible) {
    management = responsible;
  }

  /** Returns the counts of packets that were sent, received and dropped here. */
  public PacketCounters counters() {
    return counters;
  }

  Wire.Port wirePort() {
    return wirePort;
  }

  @Override
  public RocePacket packet() {
    return outgoing;
  }

  @Override
  public void send(RocePacket packet, AddressVector to) {
    send(packet, to.destination(), null);
  }

  /** Addresses a packet, seals it, and sends it. */
  public void send(RocePacket packet, Gid to) {
    send(packet, to, null);
  }

  /** Addresses a packet, seals it by a cipher if there is one, and sends it. */
  void send(RocePacket packet, Gid to, @Nullable PacketCipher cipher) {
    Wire.Port out = wirePort;
    if (!UdpGid.isReachable(out.gid(), to)) {
      counters.count(Reason.NO_WAY);
      return;
    }
    UdpGid.address(packet, out.gid(), to);
    packet.sourcePort(out.sourcePort(packet.sourcePort()));
    if (cipher == null) {
      packet.seal();
    } else {
      packet.seal(cipher, workspace());
    }
    int udpPort = UdpGid.udpPort(to);
    Wire.Outcome outcome = full ? Wire.Outcome.DROPPED : out.send(packet, udpPort);
    if (outcome == Wire.Outcome.FULL) {
      keep(packet, udpPort);
    } else {
      count(outcome);
    }
  }

  private CipherWorkspace workspace() {
    CipherWorkspace work = workspace;
    if (work == null) {
      work = RocePacket.workspace();
      workspace = work;
    }
    return work;
  }

  private void count(Wire.Outcome outcome) {
    if (outcome == Wire.Outcome.SENT) {
      counters.sent();
    } else {
      counters.count(Reason.NOT_SENT);
    }
  }

  private void keep(RocePacket packet, int udpPort) {
    RocePacket copy = kept;
    if (copy == null) {
      copy = wirePort.packet();
      kept = copy;
    }
    copy.copyFrom(packet);
    keptTo = udpPort;
    full = true;
    fabric.isFull(this);
  }

  @Override
  public boolean isFull() {
    return full;
  }

  @Override
  public @Nullable PeerWindow window(AddressVector to) {
    PeerWindows limited = windows;
    return limited == null ? null : limited.to(to.destination());
  }

  @Override
  public boolean takesReferences() {
    return wirePort.takesReferences();
  }

  @Override
  public @Nullable ReadGrants readGrants() {
    return wirePort.readGrants();
  }

  @Override
  public void withdraw(int queuePair) {
    wirePort.withdraw(queuePair);
    RocePacket copy = kept;
    if (copy != null && copy.isReferring() && copy.reference().queuePair() == queuePair) {
      drop();
    }
  }

  /** Withdraws from the peers the memory under a dead key that they have not copied yet. */
  void withdraw(KeyEntry dead) {
    wirePort.withdrawKey(dead.value());
    RocePacket copy = kept;
    if (copy != null && copy.isReferring() && dead.is(copy.reference().key())) {
      drop();
    }
  }

  /** Drops the packet that the wire has no room for, if there is one. */
  private void drop() {
    if (full) {
      full = false;
      wirePort.dropped();
      counters.count(Reason.NOT_SENT);
    }
  }

  @Override
  public boolean isBehind() {
    return wirePort.isBehind();
  }

  /** Sends the packet that the wire had no room for; returns false if the wire still has none. */
  boolean flush() {
    RocePacket copy = kept;
    if (full && copy != null) {
      Wire.Outcome outcome = wirePort.send(copy, keptTo);
      if (outcome == Wire.Outcome.FULL) {
        return false;
      }
      full = false;
      count(outcome);
    }
    return true;
  }

  @Override
  public void receive(RocePacket packet, PacketFault fault) {
    if (fault != PacketFault.NONE) {
      counters.count(fault);
      return;
    }
    if (!UdpGid.isTo(packet, wirePort.gid())) {
      counters.count(Reason.ADDRESS);
      return;
    }
    if (packet.partitionKey() != DEFAULT_PARTITION) {
      counters.count(Reason.PARTITION);
      return;
    }
    int number = packet.destinationQueuePair();
    PortManagement managed = management;
    if (number == MANAGEMENT && managed != null) {
      if (packet.isLocked()) {
        counters.count(Reason.UNPROTECTED);
        return;
      }
      counters.received();
      managed.receive(packet);
      fabric.settle();
      return;
    }
    PacketQueuePair pair = (PacketQueuePair) queuePairs.find(number);
    if (pair == null) {
      counters.count(Reason.QUEUE_PAIR);
    } else if (!pair.listensTo(packet)) {
      counters.count(Reason.SENDER);
    } else if (isGenuine(packet, pair.cipher())) {
      counters.received();
      pair.receive(packet);
      fabric.settle();
    }
  }

  /**
   * Opens a sealed packet, and returns whether the packet is accepted. A packet that is not sealed
   * is accepted only for a queue pair without a cipher.
   */
  private boolean isGenuine(RocePacket packet, @Nullable PacketCipher cipher) {
    if (packet.isLocked() != (cipher != null)) {
      counters.count(Reason.UNPROTECTED);
      return false;
    }
    PacketFault fault = cipher == null ? PacketFault.NONE : packet.open(cipher, workspace());
    if (fault != PacketFault.NONE) {
      counters.count(fault);
      return false;
    }
    return true;
  }

  void close() {
    wirePort.close();
  }
}
