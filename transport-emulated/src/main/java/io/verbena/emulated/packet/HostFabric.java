// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.driven.Driver;
import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.emulated.wire.HostWire;
import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * An HCA that exchanges packets with other processes over a {@link HostWire}: UDP sockets, or
 * shared memory. All devices of this JVM that are opened on one address share the HCA, its wire,
 * its queue pair numbers and its thread, as processes share an RNIC.
 */
public final class HostFabric extends PacketFabric {
  /** The maximum number of packets to take before the answers to them are sent. */
  private static final int BATCH = 32;

  /** The number of turns that suffice to take an answer of the same HCA. */
  private static final int CATCH_UP_TURNS = 4;

  /**
   * The time for which the HCA continues after the last device is closed, for peers that have not
   * learned of that.
   */
  private static final long LINGER_NANOS = 1_000_000_000;

  private final HostWire wire;
  private final ClockTime time;
  private final PacketPort port;
  private final Gid gid;
  private final Mtu mtu;
  private final Mtu lockedMtu;
  private final String name;
  private final Runnable ended;
  private final Object opening;
  private final FlowControl flow;
  private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();
  private final List<EmulatedDevice> plugged = new ArrayList<>();
  private volatile EmulatedDevice[] devices = new EmulatedDevice[0];

  /**
   * The maximum number of packets to take in the next turn. It follows the number that came in the
   * last turn, so that a thread that waits for one packet does not also wait for the check for a
   * second one. Accessed by threads that have entered.
   */
  private int batch = BATCH;

  private @Nullable PortManagement management;
  private final Driver driver = new Driver(this, new Work());
  private volatile long lingerEnd;
  private volatile boolean over;

  /**
   * Creates an HCA whose thread starts with the first device.
   *
   * @param wire closed with the last device
   * @param mtu the largest packet that it sends and takes
   * @param fitsLocked the largest MTU that leaves room for a lock
   * @param opening the lock held by every thread that opens a device, and while a device is closed
   * @param ended called under {@code opening} when the HCA ends; no device can be opened any more
   */
  public HostFabric(
      HostWire wire,
      ClockTime time,
      String name,
      Mtu mtu,
      Mtu fitsLocked,
      Object opening,
      Runnable ended) {
    super(Secrets.STRONG, time, wire);
    this.wire = wire;
    this.time = time;
    this.name = name;
    this.mtu = mtu;
    lockedMtu = mtu.compareTo(fitsLocked) <= 0 ? mtu : fitsLocked;
    this.opening = opening;
    this.ended = ended;
    int buffered = wire.bufferedPackets(mtu.bytes());
    flow = FlowControl.adaptive(buffered, wire.isLossless());
    port = attachPort();
    port.limit(new PeerWindows(buffered / 2));
    port.queuePairs(this::queuePair);
    wire.departures(this::departed);
    gid = port.gid();
  }

  /**
   * Returns a counter of the packets of a flow that the host of the HCA {@code of} refuses, or null
   * if the kernel does not report them. Called by a thread that has entered.
   */
  public @Nullable UnreachableReports unreachableReports(int flow, Gid of) {
    return wire.unreachableReports(flow, of);
  }

  /** Ends all waits for a peer whose process is gone and will not answer. */
  private void departed(Gid peer) {
    for (EmulatedDevice device : devices) {
      device.forEachQueuePair(
          pair -> {
            if (pair instanceof PacketQueuePair ours) {
              ours.departed(peer);
            }
          });
    }
    if (management != null) {
      management.departed(peer);
    }
    settle();
  }

  PacketCounters counters() {
    return port.counters();
  }

  /**
   * Sets the manager of this HCA's connections. Called before the first device is opened.
   *
   * @param responsible the manager, which uses {@link #port}
   */
  public void management(PortManagement responsible) {
    management = responsible;
    port.management(responsible);
  }

  /** Returns the port of the HCA, which all its devices share. */
  public PacketPort port() {
    return port;
  }

  @Override
  void established(PacketQueuePair pair) {
    if (management != null) {
      management.established(pair.number());
    }
  }

  @Override
  public String deviceName() {
    return name;
  }

  @Override
  public Mtu mtu() {
    return mtu;
  }

  /** Returns the largest MTU of connections with a lock. */
  public Mtu lockedMtu() {
    return lockedMtu;
  }

  /**
   * {@inheritDoc} A socket has one traffic class for all packets that leave it, the kernel sets the
   * hop limit and the flow label, and shared memory has none of the three.
   */
  @Override
  public void check(String verb, AddressVector vector) {
    AddressVector plain = AddressVector.to(vector.destination());
    check(verb, "traffic class", vector.trafficClass(), plain.trafficClass());
    check(verb, "hop limit", vector.hopLimit(), plain.hopLimit());
    check(verb, "flow label", vector.flowLabel(), plain.flowLabel());
  }

  private void check(String verb, String what, int asked, int expected) {
    if (asked != expected) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          verb + ": " + what + ": " + asked + " (expected: " + expected + " on " + name + ")");
    }
  }

  @Override
  protected FlowControl flowControl() {
    return flow;
  }

  @Override
  public Gid nextGid() {
    return gid;
  }

  @Override
  PacketPort port(EmulatedDevice device) {
    return port;
  }

  @Override
  public ByteBuffer allocateMemory(int length) {
    return wire.allocate(length);
  }

  @Override
  public boolean prefersOwnMemory() {
    return port.takesReferences();
  }

  @Override
  public @Nullable SharedPlace placeOf(ByteBuffer memory) {
    return wire.placeOf(memory);
  }

  @Override
  public void withdraw(KeyEntry dead) {
    enter();
    try {
      port.withdraw(dead);
    } finally {
      leave();
    }
  }

  @Override
  public boolean takeNumber(int number) {
    return numbers.add(number);
  }

  @Override
  public void giveNumber(int number) {
    numbers.remove(number);
  }

  private @Nullable EmulatedQueuePair queuePair(int number) {
    for (EmulatedDevice device : devices) {
      EmulatedQueuePair pair = device.queuePair(number);
      if (pair != null) {
        return pair;
      }
    }
    return null;
  }

  @Override
  public void plug(EmulatedDevice device) {
    synchronized (opening) {
      plugged.add(device);
      devices = plugged.toArray(new EmulatedDevice[0]);
      driver.start(name + "-engine");
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    synchronized (opening) {
      plugged.remove(device);
      devices = plugged.toArray(new EmulatedDevice[0]);
      if (plugged.isEmpty()) {
        lingerEnd = time.now() + LINGER_NANOS;
        driver.rouse();
        if (isQuiet()) {
          end();
        }
      }
    }
  }

  @Override
  public void wake() {
    driver.wake();
  }

  /** {@inheritDoc} Returns true in shared memory. */
  @Override
  protected boolean sendsAtOnce() {
    return wire.isLossless();
  }

  @Override
  public boolean isDrivenByPolling() {
    return true;
  }

  @Override
  public boolean progress() {
    return driver.progress();
  }

  @Override
  public void pollingEnds(boolean awaits) {
    if (!awaits) {
      driver.pollingEnds();
    }
  }

  @Override
  public boolean await(Waiter waiter, long nanos) {
    return driver.await(waiter, nanos);
  }

  @Override
  public void rouse(@Nullable Thread waiting) {
    driver.rouse(waiting);
  }

  private boolean isQuiet() {
    enter();
    try {
      return management == null || management.isQuiet();
    } finally {
      leave();
    }
  }

  /** Closes the HCA, once, unless a device was opened meanwhile. */
  private void end() {
    synchronized (opening) {
      if (over || !plugged.isEmpty()) {
        return;
      }
      over = true;
      ended.run();
      enter();
      try {
        wire.close();
      } finally {
        leave();
      }
    }
  }

  @Override
  public void catchUp() {
    batch = BATCH;
    for (int i = 0; i < CATCH_UP_TURNS && driver.work(); i++) {}
  }

  /** The work of its driver. */
  private final class Work implements Driver.Duties {
    /**
     * {@inheritDoc}
     *
     * <p>A turn sends posted requests before it takes packets, and the acknowledgements of these
     * packets leave with the next turn: so the answer of a polling program leaves before them.
     * Alarms run last, so that none fires for an answer that has arrived.
     */
    @Override
    public boolean work() {
      boolean served = serve();
      int came = wire.receive(batch);
      batch = came == batch ? Math.min(2 * batch, BATCH) : Math.max(1, came);
      boolean ran = time.runDue(BATCH, served ? came + 1 : came) > 0;
      return served || ran || came > 0;
    }

    @Override
    public long untilNextAlarm() {
      return time.untilNext();
    }

    @Override
    public boolean hasWork() {
      return over || (hasRung() && !waitsForRoom());
    }

    @Override
    public boolean isInUse() {
      return devices.length > 0;
    }

    @Override
    public void await(long nanos) {
      wire.await(nanos);
    }

    @Override
    public void wakeup() {
      wire.wakeup();
    }

    @Override
    public void look() {
      wire.look();
    }

    @Override
    public boolean isOver() {
      if (devices.length == 0 && (isQuiet() || time.now() > lingerEnd)) {
        end();
      }
      return over;
    }
  }
}
