// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.emulated.wire.HostWire;
import io.verbena.emulated.wire.Refusals;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An HCA whose packets a {@link HostWire} carries to other processes: UDP sockets, or shared
 * memory. All devices of this JVM that are opened on one address share it, its wire, its queue pair
 * numbers and its thread, as processes share an RNIC.
 *
 * <p>One thread at a time drives it, whichever comes first: who polls an empty completion queue
 * takes a turn, so that a program which polls has its packets without another thread; its own
 * driver yields meanwhile. When nobody polls, the driver sleeps until the wire wakes it.
 *
 * <pre>{@code
 * SPINNING -- nothing to do ---> SELECTING  (packet, alarm, doorbell: SPINNING)
 *     |                               ^
 *     +-- somebody polls --> YIELDED -+  nobody has polled for a while, or somebody arms
 * }</pre>
 */
public final class HostFabric extends PacketFabric {
  private static final int SPINS = 100;

  /** Packets that are taken before what they lead to is sent. */
  private static final int BATCH = 32;

  /** How long the driver trusts at first that who has polled will poll again. */
  private static final long YIELD_NANOS = 300_000;

  /**
   * How long at the most, after it did: each look takes the CPU from somebody where all are polled
   * on. A message that comes when the polling has just ended waits up to twice as long: the first
   * look still finds that there was polling.
   */
  private static final long LONGEST_YIELD_NANOS = 2_000_000;

  /** The longest sleep in slices that the selector, which counts milliseconds, does not know. */
  private static final long SHORT_NANOS = 50_000;

  private static final long MILLI_NANOS = 1_000_000;

  /** Enough for an answer of the same HCA to be taken. */
  private static final int CATCH_UP_TURNS = 4;

  /** How long it stays after the last device is closed, for peers that have not heard of it. */
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
   * Packets to take in the next turn: who waits for one is not kept until it is known that there is
   * no second one. For those who have entered.
   */
  private int batch = BATCH;

  private @Nullable PortManagement management;
  private @Nullable Thread driver;
  private volatile DriverState driverState = DriverState.SPINNING;
  private volatile boolean polled;
  private volatile long lingerEnd;
  private volatile boolean over;

  /** What its driver is doing; see above. */
  private enum DriverState {
    SPINNING,
    SELECTING,
    YIELDED
  }

  /**
   * An HCA whose thread starts with the first device.
   *
   * @param wire closed with the last device
   * @param mtu the largest packets that it sends and takes
   * @param fitsLocked the largest that leave room for a lock
   * @param opening held by whoever opens a device, and while a device is closed
   * @param ended called under {@code opening} when the HCA goes; no device can be opened any more
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
    flow = FlowControl.adaptive(buffered);
    port = attachPort();
    port.limit(new PeerWindows(buffered / 2));
    port.queuePairs(this::queuePair);
    wire.departures(this::departed);
    gid = port.gid();
  }

  /** For who has entered: hears that the host of an HCA refuses packets of a flow, if it can. */
  public @Nullable Refusals refusals(int flow, Gid of) {
    return wire.refusals(flow, of);
  }

  /** The process of a peer is gone: nothing that waits for it is answered. */
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
   * Says who manages the connections of this HCA; before the first device is opened.
   *
   * @param responsible has {@link #port} as its own
   */
  public void management(PortManagement responsible) {
    management = responsible;
    port.management(responsible);
  }

  /** Its port. */
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

  /** The largest packets of connections with a lock. */
  public Mtu lockedMtu() {
    return lockedMtu;
  }

  /**
   * {@inheritDoc} A socket's traffic class is that of all packets that leave it, the hop limit and
   * the flow label are the kernel's, and shared memory has none of them.
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
      if (driver == null) {
        Thread thread = new Thread(this::drive, name + "-engine");
        thread.setDaemon(true);
        driver = thread;
        thread.start();
      }
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    synchronized (opening) {
      plugged.remove(device);
      devices = plugged.toArray(new EmulatedDevice[0]);
      if (plugged.isEmpty()) {
        lingerEnd = time.now() + LINGER_NANOS;
        rouse();
        if (isQuiet()) {
          end();
        }
      }
    }
  }

  @Override
  public void wake() {
    if (driverState == DriverState.SELECTING) {
      rouse();
    }
  }

  private void rouse() {
    LockSupport.unpark(driver);
    wire.wakeup();
  }

  @Override
  public boolean isDrivenByPolling() {
    return true;
  }

  @Override
  public boolean progress() {
    if (!polled) {
      polled = true;
      // From now on alarms are set that a driver which sleeps already knows nothing of.
      wake();
    }
    if (!tryEnter()) {
      return true;
    }
    return turn();
  }

  @Override
  public void pollingEnds() {
    polled = false;
    if (driverState == DriverState.YIELDED) {
      LockSupport.unpark(driver);
    }
  }

  private void drive() {
    int idle = 0;
    while (!isOver()) {
      enter();
      if (turn()) {
        idle = 0;
      } else if (polled) {
        yieldToPollers();
      } else if (idle < SPINS) {
        idle++;
        Thread.onSpinWait();
      } else {
        sleep();
      }
    }
  }

  private boolean isOver() {
    if (devices.length == 0 && (isQuiet() || time.now() > lingerEnd)) {
      end();
    }
    return over;
  }

  private boolean isQuiet() {
    enter();
    try {
      return management == null || management.isQuiet();
    } finally {
      leave();
    }
  }

  /** Closes everything, once, unless a device was opened meanwhile. */
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

  /** For those who have entered: does what is due, and leaves; true if that was anything. */
  private boolean turn() {
    try {
      return workOn();
    } finally {
      leave();
    }
  }

  private boolean workOn() {
    try {
      return work();
    } catch (RuntimeException | Error e) {
      // A mistake of an engine stops its queue pair; the others go on.
      report(e);
      return true;
    }
  }

  /**
   * What was posted goes out before what has come is looked at, and acknowledgements go out only
   * with the next turn: so the answer of a program that polls goes before them. Alarms come last,
   * so that none goes off for an answer that has come.
   */
  private boolean work() {
    boolean served = serve();
    int came = wire.receive(batch);
    batch = came == batch ? Math.min(2 * batch, BATCH) : Math.max(1, came);
    boolean ran = time.runDue(BATCH) > 0;
    return served || ran || came > 0;
  }

  @Override
  public void catchUp() {
    batch = BATCH;
    for (int i = 0; i < CATCH_UP_TURNS && workOn(); i++) {}
  }

  private void yieldToPollers() {
    driverState = DriverState.YIELDED;
    long nanos = YIELD_NANOS;
    while (polled && devices.length > 0) {
      polled = false;
      LockSupport.parkNanos(this, nanos);
      nanos = Math.min(2 * nanos, LONGEST_YIELD_NANOS);
    }
    driverState = DriverState.SPINNING;
  }

  private void sleep() {
    driverState = DriverState.SELECTING;
    long nanos = untilNextAlarm();
    boolean nothingToDo = !hasRung() || waitsForRoom();
    if (nothingToDo && !polled && !over && devices.length > 0) {
      if (nanos < MILLI_NANOS) {
        LockSupport.parkNanos(this, Math.min(nanos, SHORT_NANOS));
      } else {
        wire.await(nanos);
      }
    }
    driverState = DriverState.SPINNING;
  }

  private long untilNextAlarm() {
    enter();
    try {
      return time.untilNext();
    } finally {
      leave();
    }
  }
}
