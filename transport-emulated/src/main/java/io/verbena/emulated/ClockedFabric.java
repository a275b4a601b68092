package io.verbena.emulated;

import io.verbena.emulated.wire.ClockTime;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.verbs.DeviceAttributes;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A fabric of packets in real time, with one thread that calls all its engines. Devices that were
 * opened with the same options share one; it and its thread last as long as any of them is open.
 */
final class ClockedFabric extends PacketFabric {
  private static final int SPINS = 200;

  /** Alarms that the driver runs before it lets others enter. */
  private static final int BATCH = 64;

  private static final Map<WireOptions, ClockedFabric> OPEN = new HashMap<>();

  private final WireOptions options;
  private final ClockTime time;
  private int devices;
  private @Nullable Thread driver;
  private volatile boolean sleeping;
  private volatile boolean stopped;

  private final @Nullable Capture capture;

  private ClockedFabric(
      WireOptions options, ClockTime time, SimulatedWire wire, @Nullable Capture capture) {
    super(Secrets.STRONG, time, wire);
    this.options = options;
    this.time = time;
    this.capture = capture;
    wire.tap(capture);
  }

  private static ClockedFabric start(WireOptions options) {
    ClockTime time = new ClockTime();
    String file = options.capture();
    Capture capture = file == null ? null : Capture.to(file);
    return new ClockedFabric(options, time, new SimulatedWire(time, options.schedule()), capture);
  }

  /** Opens a device on the fabric with these options. */
  static EmulatedDevice open(WireOptions options, DeviceAttributes limits) {
    synchronized (OPEN) {
      ClockedFabric fabric = OPEN.get(options);
      if (fabric == null) {
        fabric = start(options);
        OPEN.put(options, fabric);
      }
      return EmulatedDevice.open(fabric, limits);
    }
  }

  @Override
  void plug(EmulatedDevice device) {
    synchronized (OPEN) {
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
  void unplug(EmulatedDevice device) {
    synchronized (OPEN) {
      super.unplug(device);
      if (--devices == 0) {
        OPEN.remove(options);
        stopped = true;
        wake();
        if (capture != null) {
          capture.close();
        }
      }
    }
  }

  @Override
  void wake() {
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

  /** Does what is due; true if that was anything. */
  private boolean turn() {
    enter();
    try {
      boolean ran = time.runDue(BATCH) > 0;
      boolean served = serve();
      return ran || served;
    } catch (RuntimeException | Error e) {
      // A mistake of the engine stops what it was about; the other queue pairs go on.
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
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
