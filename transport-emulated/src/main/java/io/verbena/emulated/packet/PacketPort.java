// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.engine.FrameSink;
import io.verbena.emulated.engine.PeerWindow;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.MemoryKey;
import io.verbena.emulated.lock.LockWorkspace;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.emulated.packet.PacketCounters.Reason;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.FrameFault;
import io.verbena.emulated.roce.ReadGrants;
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
public final class PacketPort implements FrameSink, Wire.Receiver {
  /** The number of the queue pair of connection managers, as in a {@link Frame}. */
  public static final int MANAGEMENT = 1;

  private static final int DEFAULT_PARTITION = 0xffff;

  private final PacketFabric fabric;
  private final Wire.Port wirePort;
  private final PacketCounters counters = new PacketCounters();

  /** The packet that is built and sent; there is one at a time. */
  private final Frame outgoing;

  /** The packet that the wire has no room for, and the UDP port of its destination. */
  private @Nullable Frame kept;

  private int keptTo;

  /** For packets of queue pairs with a lock; null before there is one. */
  private @Nullable LockWorkspace workspace;

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
    outgoing = wirePort.frame();
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
  public Frame frame() {
    return outgoing;
  }

  @Override
  public void send(Frame frame, AddressVector to) {
    send(frame, to.destination(), null);
  }

  /** Addresses a packet, seals it, and sends it. */
  public void send(Frame frame, Gid to) {
    send(frame, to, null);
  }

  /** Addresses a packet, seals it by a lock if there is one, and sends it. */
  void send(Frame frame, Gid to, @Nullable PacketLock lock) {
    Wire.Port out = wirePort;
    if (!UdpGid.isReachable(out.gid(), to)) {
      counters.count(Reason.NO_WAY);
      return;
    }
    UdpGid.address(frame, out.gid(), to);
    frame.sourcePort(out.sourcePort(frame.sourcePort()));
    if (lock == null) {
      frame.seal();
    } else {
      frame.seal(lock, workspace());
    }
    int udpPort = UdpGid.udpPort(to);
    Wire.Outcome outcome = full ? Wire.Outcome.DROPPED : out.send(frame, udpPort);
    if (outcome == Wire.Outcome.FULL) {
      keep(frame, udpPort);
    } else {
      count(outcome);
    }
  }

  private LockWorkspace workspace() {
    LockWorkspace work = workspace;
    if (work == null) {
      work = Frame.workspace();
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

  private void keep(Frame frame, int udpPort) {
    Frame copy = kept;
    if (copy == null) {
      copy = wirePort.frame();
      kept = copy;
    }
    copy.copyFrom(frame);
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
    Frame copy = kept;
    if (copy != null && copy.isReferring() && copy.reference().queuePair() == queuePair) {
      drop();
    }
  }

  /** Withdraws from the peers the memory under a dead key that they have not copied yet. */
  void withdraw(MemoryKey dead) {
    wirePort.withdrawKey(dead.value());
    Frame copy = kept;
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
    Frame copy = kept;
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
  public void receive(Frame frame, FrameFault fault) {
    if (fault != FrameFault.NONE) {
      counters.count(fault);
      return;
    }
    if (!UdpGid.isTo(frame, wirePort.gid())) {
      counters.count(Reason.ADDRESS);
      return;
    }
    if (frame.partitionKey() != DEFAULT_PARTITION) {
      counters.count(Reason.PARTITION);
      return;
    }
    int number = frame.destinationQueuePair();
    PortManagement managed = management;
    if (number == MANAGEMENT && managed != null) {
      if (frame.isLocked()) {
        counters.count(Reason.UNPROTECTED);
        return;
      }
      counters.received();
      managed.receive(frame);
      fabric.settle();
      return;
    }
    PacketQueuePair pair = (PacketQueuePair) queuePairs.find(number);
    if (pair == null) {
      counters.count(Reason.QUEUE_PAIR);
    } else if (!pair.listensTo(frame)) {
      counters.count(Reason.SENDER);
    } else if (isGenuine(frame, pair.lock())) {
      counters.received();
      pair.receive(frame);
      fabric.settle();
    }
  }

  /**
   * Opens a sealed packet, and returns whether the packet is accepted. A packet that is not sealed
   * is accepted only for a queue pair without a lock.
   */
  private boolean isGenuine(Frame frame, @Nullable PacketLock lock) {
    if (frame.isLocked() != (lock != null)) {
      counters.count(Reason.UNPROTECTED);
      return false;
    }
    FrameFault fault = lock == null ? FrameFault.NONE : frame.open(lock, workspace());
    if (fault != FrameFault.NONE) {
      counters.count(fault);
      return false;
    }
    return true;
  }

  void close() {
    wirePort.close();
  }
}
