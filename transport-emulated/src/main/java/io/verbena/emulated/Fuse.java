package io.verbena.emulated;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lets a test break emulated HCAs, as hardware breaks or is pulled out: those that were opened as
 * {@code emulated://name?fuse=a} fail when the fuse {@code a} is blown.
 *
 * <p>What a program then sees is what it sees of an RNIC. The device raises {@code DEVICE_FATAL},
 * its connection managers raise {@code DEVICE_REMOVAL} for each connection. Its queue pairs go to
 * ERR: what is pending is flushed, and so is what is posted from then on. Peers are told nothing;
 * what they send is not answered. Every verb that makes or changes something, connects or listens
 * fails with {@link io.verbena.verbs.VerbsError#IO}, and so does waiting for connection events once
 * there are none left. Completions and events can be taken as before, and closing frees everything.
 *
 * <p>Thread-safe.
 */
public final class Fuse {
  private static final Map<String, Set<EmulatedDevice>> DEVICES = new HashMap<>();

  private Fuse() {}

  /**
   * Has all HCAs fail that are open with this fuse. All of it is told when this returns, and each
   * has failed for good; those that are opened later work.
   *
   * @param fuse its name, as in the address
   * @return how many have failed by this call
   */
  public static int blow(String fuse) {
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

  /** Has a device fail with a fuse. */
  static void insert(String fuse, EmulatedDevice device) {
    synchronized (DEVICES) {
      DEVICES.computeIfAbsent(fuse, name -> new HashSet<>()).add(device);
    }
  }

  /** A device is closed. */
  static void remove(EmulatedDevice device) {
    synchronized (DEVICES) {
      DEVICES.values().removeIf(those -> those.remove(device) && those.isEmpty());
    }
  }
}
