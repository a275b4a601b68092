// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Scheduled;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.packet.PacketFabric;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.FlightPool;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * A network of emulated HCAs in virtual time, for verbs programs whose runs must repeat exactly: a
 * run is a pure function of the seed, the faults, and the program's calls and their times.
 *
 * <pre>{@code
 * SimulatedFabric fabric = new SimulatedFabric(seed, FaultSchedule.none(1000));
 * Device a = fabric.open();
 * Device b = fabric.open();
 * ...                                          // create, connect, post
 * fabric.run(() -> queue.poll(batch) > 0, deadline);
 * }</pre>
 *
 * <p>Not thread-safe. One thread does everything: it calls the verbs, and {@link #step} or {@link
 * #run}, in which the HCAs work. The thread must not wait in a verb (no event arrives while it
 * waits), and must not read a clock. Time passes only in a step that finds nothing to do at the
 * present moment. The timers of connections and devices are alarms of {@link #time}, too.
 *
 * <p>For a run to repeat, the program must not depend on anything without a fixed order: no
 * threads, no identity hashes, no real addresses. Register slices of memory that begin on a page.
 */
public final class SimulatedFabric {
  private final VirtualTime time = new VirtualTime();
  private final SimulatedWire wire;
  private final Driven fabric;
  private final LocalConnectionManagers managers = new LocalConnectionManagers();

  /**
   * Creates a network with its own pool of frames.
   *
   * @param seed the seed of keys, queue pair numbers and starting PSNs
   * @param faults the faults of the wire
   */
  public SimulatedFabric(long seed, FaultSchedule faults) {
    this(seed, faults, FlowControl.FIXED, new FlightPool());
  }

  /**
   * Creates a network whose frames come from a pool.
   *
   * @param seed the seed of keys, queue pair numbers and starting PSNs
   * @param faults the faults of the wire
   * @param flow how much its queue pairs may have in flight
   * @param pool the pool, for one network at a time
   */
  public SimulatedFabric(long seed, FaultSchedule faults, FlowControl flow, FlightPool pool) {
    wire = new SimulatedWire(time, faults, pool);
    fabric = new Driven(new Secrets(new SplittableRandom(seed)), time, wire, flow);
  }

  /** Opens another HCA, on the next port of the wire. */
  public Device open() {
    return open(DeviceLimits.FULL);
  }

  /** Opens another HCA with at most these limits. */
  public Device open(DeviceAttributes limits) {
    return EmulatedDevice.open(fabric, limits, managers);
  }

  /** Returns the virtual time of the network. */
  public VirtualTime time() {
    return time;
  }

  /** Returns the wire, for instance to tap it. */
  public SimulatedWire wire() {
    return wire;
  }

  /**
   * Takes the next step: runs an alarm or delivers a packet of the present moment, or serves posted
   * requests; if there is none, advances to the next moment.
   *
   * @param deadline the last moment to advance to, in nanoseconds of {@link #time}
   * @return false if nothing is left to do until the deadline
   */
  public boolean step(long deadline) {
    return time.runDue() || fabric.serve() || time.advance(deadline);
  }

  /**
   * Takes steps until a condition holds.
   *
   * @param condition checked before each step
   * @param deadline the last moment to advance to, in nanoseconds of {@link #time}
   * @return whether the condition holds; if not, nothing is left to do until the deadline
   */
  public boolean run(BooleanSupplier condition, long deadline) {
    while (!condition.getAsBoolean()) {
      if (!step(deadline)) {
        return condition.getAsBoolean();
      }
    }
    return true;
  }

  /** Takes steps until nothing is left to do. */
  public void runToEnd() {
    while (step(Long.MAX_VALUE)) {}
  }

  /** The fabric that the devices are plugged into. */
  private static final class Driven extends PacketFabric {
    private final VirtualTime time;
    private final FlowControl flow;

    Driven(Secrets secrets, VirtualTime time, SimulatedWire wire, FlowControl flow) {
      super(secrets, time, wire);
      this.time = time;
      this.flow = flow;
    }

    @Override
    protected FlowControl flowControl() {
      return flow;
    }

    @Override
    public void wake() {}

    @Override
    public Scheduled schedule(EmulatedDevice device, Runnable task, long delayNanos) {
      return time.schedule(delayNanos, task)::cancel;
    }
  }
}
