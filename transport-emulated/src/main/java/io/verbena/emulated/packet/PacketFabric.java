// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A fabric whose queue pairs exchange packets over a wire. Its driver runs the alarms of its
 * timeline, and {@linkplain #serve serves} the queue pairs that rang their doorbells.
 */
public abstract class PacketFabric extends DrivenFabric {
  private final Timeline timeline;
  private final Wire wire;
  private final ConcurrentHashMap<Gid, PacketPort> ports = new ConcurrentHashMap<>();

  /** Ports with a packet that the wire has no room for. */
  private final ArrayDeque<PacketPort> full = new ArrayDeque<>();

  /** True if {@link #full} holds a port; for threads that have not entered. */
  private volatile boolean waitsForRoom;

  protected PacketFabric(Secrets secrets, Timeline timeline, Wire wire) {
    super(secrets);
    this.timeline = timeline;
    this.wire = wire;
  }

  @Override
  public final Set<Counter> counted() {
    return Set.of(Counter.values());
  }

  /** Returns the time in which its alarms are set. */
  public final Timeline timeline() {
    return timeline;
  }

  /**
   * Records that a port has a packet that the wire has no room for; the driver checks when there is
   * room.
   */
  final void isFull(PacketPort port) {
    full.add(port);
    waitsForRoom = true;
    wake();
  }

  /** Returns whether queue pairs that rang wait for room on the wire. */
  final boolean waitsForRoom() {
    return waitsForRoom;
  }

  @Override
  protected final boolean hasRoom() {
    if (waitsForRoom) {
      while (!full.isEmpty()) {
        if (!full.getFirst().flush()) {
          return false;
        }
        full.removeFirst();
      }
      waitsForRoom = false;
    }
    return true;
  }

  /** Returns how much each of its queue pairs may have in flight. */
  protected FlowControl flowControl() {
    return FlowControl.FIXED;
  }

  /** Takes the packets that have already arrived, before a change. The caller has entered. */
  public void catchUp() {}

  /**
   * Called when a queue pair in RTR has received its first packet, by the thread that calls the
   * engine.
   */
  void established(PacketQueuePair pair) {}

  @Override
  public Gid nextGid() {
    enter();
    try {
      PacketPort port = attachPort();
      ports.put(port.gid(), port);
      return port.gid();
    } finally {
      leave();
    }
  }

  @Override
  public void plug(EmulatedDevice device) {
    enter();
    try {
      port(device).queuePairs(device::queuePair);
    } finally {
      leave();
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    enter();
    try {
      port(device).close();
      ports.remove(device.gid());
    } finally {
      leave();
    }
  }

  /**
   * Makes a queue pair of a packet fabric seal all its packets with a cipher, and drop the packets
   * that the cipher did not seal, until the queue pair is reset. Called before the queue pair is
   * ready to receive.
   */
  public static void protect(EmulatedQueuePair pair, PacketCipher cipher) {
    ((PacketQueuePair) pair).protect(cipher);
  }

  /** Attaches a port to the wire. */
  final PacketPort attachPort() {
    return new PacketPort(this, wire);
  }

  PacketPort port(EmulatedDevice device) {
    PacketPort port = ports.get(device.gid());
    if (port == null) {
      throw new VerbsException(VerbsError.CLOSED, "device " + device.name() + " is closed");
    }
    return port;
  }

  @Override
  public EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new PacketQueuePair(this, domain, number, options, port(domain.device()));
  }
}
