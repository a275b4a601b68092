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
 * A network of emulated HCAs in virtual time, for programs over the verbs whose runs are to be
 * repeated to the bit: a run is a pure function of the seed, the faults, and what the program does
 * when.
 *
 * <pre>{@code
 * SimulatedFabric fabric = new SimulatedFabric(seed, FaultSchedule.none(1000));
 * Device a = fabric.open();
 * Device b = fabric.open();
 * ...                                          // create, connect, post
 * fabric.run(() -> queue.poll(batch) > 0, deadline);
 * }</pre>
 *
 * <p>One thread does everything: it calls the verbs, and takes the steps in which the HCAs work. It
 * must not wait in a verb (an event that is awaited with a timeout does not come meanwhile), and
 * not use a clock. Time passes only between steps, when there is nothing to do at its present
 * moment. The timers of connections and of devices are alarms of {@link #time} too.
 *
 * <p>For a run to repeat, its program must not depend on anything without a fixed order: no thread,
 * no identity hash, no real address; memory to register is best a slice that begins on a page.
 */
public final class SimulatedFabric {
  private final VirtualTime time = new VirtualTime();
  private final SimulatedWire wire;
  private final Driven fabric;
  private final LocalConnectionManagers managers = new LocalConnectionManagers();

  /** Creates a network with frames of its own. */
  public SimulatedFabric(long seed, FaultSchedule faults) {
    this(seed, faults, FlowControl.FIXED, new FlightPool());
  }

  /**
   * Creates a network whose frames come from a pool.
   *
   * @param seed the seed of keys, queue pair numbers and starting PSNs
   * @param faults the faults of the wire
   * @param flow how much its queue pairs may have in flight
   * @param pool the pool, for one network after the other
   */
  public SimulatedFabric(long seed, FaultSchedule faults, FlowControl flow, FlightPool pool) {
    wire = new SimulatedWire(time, faults, pool);
    fabric = new Driven(new Secrets(new SplittableRandom(seed)), time, wire, flow);
  }

  /** Opens another HCA; its port is the next on the wire. */
  public Device open() {
    return open(DeviceLimits.FULL);
  }

  /** Opens another HCA with at most these limits. */
  public Device open(DeviceAttributes limits) {
    return EmulatedDevice.open(fabric, limits, managers);
  }

  /** Returns the time in which everything happens. */
  public VirtualTime time() {
    return time;
  }

  /** Returns the wire, to watch it. */
  public SimulatedWire wire() {
    return wire;
  }

  /**
   * Takes the next step: an alarm or a packet of the present moment, or work that the program
   * posted; else advances to the next moment.
   *
   * @param deadline the last moment to advance to
   * @return false if there is nothing left to do until then
   */
  public boolean step(long deadline) {
    return time.runDue() || fabric.serve() || time.advance(deadline);
  }

  /**
   * Takes steps until a condition holds.
   *
   * @param condition checked before each step
   * @param deadline the last moment to advance to
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

  /** The fabric as its devices know it. */
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
