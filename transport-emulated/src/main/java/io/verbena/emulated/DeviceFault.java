// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.hca.DeviceListener;
import io.verbena.emulated.hca.EmulatedDevice;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets a test break emulated HCAs, as hardware breaks or is pulled out: those that were opened as
 * {@code emulated://name?fuse=a} fail when {@code inject("a")} is called.
 *
 * <p>A program then sees what it would see of a failed RNIC. The device raises {@code
 * DEVICE_FATAL}, its connection managers raise {@code DEVICE_REMOVAL} for each connection. Its
 * queue pairs go to ERR: pending requests are flushed, and so are those that are posted from then
 * on. Peers are told nothing; what they send is not answered. Every verb that makes or changes
 * something, connects or listens fails with {@link io.verbena.verbs.VerbsError#IO}, and so does
 * waiting for connection events once there are none left. Completions and events can be taken as
 * before, and closing frees everything.
 *
 * <p>Thread-safe.
 */
public final class DeviceFault {
  private static final Map<String, Set<EmulatedDevice>> DEVICES = new HashMap<>();

  private static final DeviceListener FORGETTING =
      new DeviceListener() {
        @Override
        public void deviceClosed(EmulatedDevice device) {
          forget(device);
        }
      };

  private DeviceFault() {}

  /**
   * Breaks all HCAs that are open with this fuse. All events are raised when this returns, and each
   * HCA has failed for good; those that are opened later work.
   *
   * @param fuse its name, as in the address
   * @return the number of HCAs that failed by this call
   */
  public static int inject(String fuse) {
    List<EmulatedDevice> devices;
    synchronized (DEVICES) {
      devices = List.copyOf(DEVICES.getOrDefault(fuse, Set.of()));
    }
    int count = 0;
    for (EmulatedDevice device : devices) {
      count += device.breakDown() ? 1 : 0;
    }
    return count;
  }

  /** Adds a device, which was just opened, to those that fail with this fuse. */
  static void insert(String fuse, EmulatedDevice device) {
    synchronized (DEVICES) {
      DEVICES.computeIfAbsent(fuse, name -> new HashSet<>()).add(device);
    }
    device.addListener(FORGETTING);
  }

  private static void forget(EmulatedDevice device) {
    synchronized (DEVICES) {
      DEVICES.values().removeIf(those -> those.remove(device) && those.isEmpty());
    }
  }
}
