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
 * Lets a test break emulated HCAs, as if the hardware failed or was pulled out: {@code inject("a")}
 * breaks the HCAs that were opened as {@code emulated://name?fuse=a}.
 *
 * <p>The program then sees the same as with a failed RNIC. The device raises {@code DEVICE_FATAL},
 * and its connection managers raise {@code DEVICE_REMOVAL} for each connection. Its queue pairs go
 * to ERR: pending requests and all requests posted later are flushed. Peers are not notified, and
 * their messages are not answered. Every verb that creates or modifies an object, connects or
 * listens fails with {@link io.verbena.verbs.VerbsError#IO}; so does a wait for connection events
 * once none are left. The program can still poll completions and take events, and closing the
 * objects frees everything.
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
   * Breaks all HCAs that are open with this fuse. When this method returns, all events have been
   * raised and these HCAs have failed permanently; HCAs opened later work.
   *
   * @param fuse the fuse's name, as in the address
   * @return the number of HCAs that this call broke
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

  /** Registers a device that was just opened with this fuse. */
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
