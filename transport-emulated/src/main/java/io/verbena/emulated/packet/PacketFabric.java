// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A fabric whose queue pairs talk in packets, over a wire. Somebody drives it: runs the alarms of
 * its timeline, and {@linkplain #serve serves} those that rang.
 *
 * <p>One thread at a time calls engines: it has {@linkplain #enter entered}. Programs enter only to
 * change or close something, never to post or poll. Locks are taken in the order connection, queue
 * pair, fabric; under the last no other is taken but those of event queues.
 */
public abstract class PacketFabric implements Fabric {
  private final Secrets secrets;
  private final Timeline timeline;
  private final Wire wire;
  // Fair, so that a program which changes something has its turn while the driver is busy.
  private final ReentrantLock turn = new ReentrantLock(true);
  private final Doorbells doorbells = new Doorbells();
  private final ArrayDeque<Runnable> afterwards = new ArrayDeque<>();
  private final ConcurrentHashMap<Gid, PacketPort> ports = new ConcurrentHashMap<>();

  /** Ports with a packet that the wire has no room for. */
  private final ArrayDeque<PacketPort> full = new ArrayDeque<>();

  /** Whether there is one, for those who have not entered. */
  private volatile boolean waitsForRoom;

  protected PacketFabric(Secrets secrets, Timeline timeline, Wire wire) {
    this.secrets = secrets;
    this.timeline = timeline;
    this.wire = wire;
  }

  @Override
  public final Set<Counter> counted() {
    return Set.of(Counter.values());
  }

  /** Somebody rang, or something has changed: the driver is to look, if it sleeps. */
  public abstract void wake();

  @Override
  public final Secrets secrets() {
    return secrets;
  }

  /** The time that its alarms are set in. */
  public final Timeline timeline() {
    return timeline;
  }

  /** Becomes the one who calls engines. */
  @SuppressWarnings("LockNotBeforeTry") // leave unlocks
  public final void enter() {
    turn.lock();
  }

  /** Becomes the one who calls engines, if that takes no waiting; true if it did. */
  final boolean tryEnter() {
    return turn.tryLock();
  }

  /** Gives it up. */
  public final void leave() {
    try {
      if (turn.getHoldCount() == 1) {
        settle();
      }
    } finally {
      turn.unlock();
    }
  }

  /** Returns once whoever calls engines at this moment is done. */
  final void awaitTurn() {
    enter();
    leave();
  }

  /** {@inheritDoc} Engines alone copy. */
  @Override
  public final void awaitCopies() {
    awaitTurn();
  }

  final void ring(Doorbells.Bell bell) {
    doorbells.ring(bell);
    wake();
  }

  final boolean hasRung() {
    return !doorbells.isEmpty();
  }

  /** A port has a packet that the wire has no room for; the driver is to look when it has. */
  final void isFull(PacketPort port) {
    full.add(port);
    waitsForRoom = true;
    wake();
  }

  /** Whether queue pairs that rang wait for room on the wire. */
  final boolean waitsForRoom() {
    return waitsForRoom;
  }

  private boolean hasRoom() {
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

  /**
   * For those who have entered: serves each queue pair that rang, once; false if none did, or if
   * the wire has no room.
   *
   * <p>What an engine throws is thrown on when all are served: it has stopped its own queue pair,
   * and the others go on.
   */
  public final boolean serve() {
    if (!hasRoom()) {
      return false;
    }
    Doorbells.Bell bell = doorbells.takeAll();
    if (bell == null) {
      return false;
    }
    Throwable thrown = null;
    while (bell != null) {
      Doorbells.Bell next = bell.next;
      try {
        bell.lower();
        if (bell.pair.serve()) {
          doorbells.ring(bell);
        }
        settle();
      } catch (RuntimeException | Error e) {
        if (thrown != null) {
          e.addSuppressed(thrown);
        }
        thrown = e;
      }
      bell = next;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    }
    return true;
  }

  /** Tells of what an engine threw, on a thread that goes on. */
  static void report(Throwable mistake) {
    FailureLog.get().failed(mistake);
  }

  /** Within a call of an engine: has this done when the engine can be called again. */
  final void afterwards(Runnable action) {
    afterwards.add(action);
  }

  /** For those who have entered, after a call of an engine: does what had to wait for its end. */
  final void settle() {
    Runnable action = afterwards.poll();
    while (action != null) {
      action.run();
      action = afterwards.poll();
    }
  }

  /** How much each of its queue pairs may have under way. */
  protected FlowControl flowControl() {
    return FlowControl.FIXED;
  }

  /** For those who have entered: takes what has come already, before something is changed. */
  public void catchUp() {}

  /** For the caller of the engine: a queue pair in RTR has had its first packet. */
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
   * Has a lock seal all that a queue pair of such a fabric sends, and nothing else reach it, until
   * it is reset. Before it is ready to receive.
   */
  public static void protect(EmulatedQueuePair pair, PacketLock lock) {
    ((PacketQueuePair) pair).protect(lock);
  }

  /** A port on the wire. */
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
