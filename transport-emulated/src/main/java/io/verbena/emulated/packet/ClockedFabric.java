// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.emulated.wire.SimulatedWire;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A packet fabric in real time, with one thread that calls all its engines. Devices that were
 * opened with the same options share a fabric; its thread runs as long as any of them is open.
 */
public final class ClockedFabric extends PacketFabric {
  private static final int SPINS = 200;

  /** The maximum number of alarms that the driver runs before it lets other threads enter. */
  private static final int BATCH = 64;

  private final ClockTime time;
  private final @Nullable Capture capture;
  private final Object opening;
  private final Runnable ended;
  private int devices;
  private @Nullable Thread driver;
  private volatile boolean sleeping;
  private volatile boolean stopped;

  private ClockedFabric(
      ClockTime time,
      SimulatedWire wire,
      @Nullable Capture capture,
      Object opening,
      Runnable ended) {
    super(Secrets.STRONG, time, wire);
    this.time = time;
    this.capture = capture;
    this.opening = opening;
    this.ended = ended;
    wire.tap(capture);
  }

  /**
   * Returns a fabric whose thread starts with the first device.
   *
   * @param schedule the faults of the wire
   * @param capture a file to write all packets to, or null
   * @param opening the lock held by every thread that opens a device, and while a device is closed
   * @param ended called under {@code opening} when the last device is closed; no device can be
   *     opened any more
   */
  public static ClockedFabric over(
      FaultSchedule schedule, @Nullable String capture, Object opening, Runnable ended) {
    ClockTime time = new ClockTime();
    Capture file = capture == null ? null : Capture.to(capture);
    return new ClockedFabric(time, new SimulatedWire(time, schedule), file, opening, ended);
  }

  @Override
  public void plug(EmulatedDevice device) {
    synchronized (opening) {
      super.plug(device);
      if (devices++ == 0) {
        Thread thread = new Thread(this::drive, EmulatedDevice.NAME + "-engine");
        thread.setDaemon(true);
        driver = thread;
        thread.start();
      }
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    synchronized (opening) {
      super.unplug(device);
      if (--devices == 0) {
        ended.run();
        stopped = true;
        wake();
        if (capture != null) {
          capture.close();
        }
      }
    }
  }

  @Override
  public void wake() {
    if (sleeping || stopped) {
      LockSupport.unpark(driver);
    }
  }

  private void drive() {
    int idle = 0;
    while (!stopped) {
      boolean busy = turn();
      if (busy) {
        idle = 0;
      } else if (idle < SPINS) {
        idle++;
        Thread.onSpinWait();
      } else {
        sleep();
      }
    }
  }

  /** Does the work that is due; returns whether there was any. */
  private boolean turn() {
    enter();
    try {
      boolean ran = time.runDue(BATCH, 0) > 0;
      boolean served = serve();
      return ran || served;
    } catch (RuntimeException | Error e) {
      // A bug of an engine stops its queue pair; the others continue.
      report(e);
      return true;
    } finally {
      leave();
    }
  }

  private void sleep() {
    sleeping = true;
    long nanos = untilNextAlarm();
    if (!hasRung() && !stopped) {
      LockSupport.parkNanos(this, nanos);
    }
    sleeping = false;
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
