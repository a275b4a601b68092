package io.verbena.emulated;

import io.verbena.verbs.Gid;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What all emulated HCAs of this JVM are plugged into: devices by GID, listeners by name. */
final class Fabric {
  private static final ConcurrentHashMap<Gid, EmulatedDevice> DEVICES = new ConcurrentHashMap<>();
  private static final ConcurrentHashMap<String, EmulatedListener> LISTENERS =
      new ConcurrentHashMap<>();

  private Fabric() {}

  static void plug(EmulatedDevice device) {
    DEVICES.put(device.gid(), device);
  }

  static void unplug(EmulatedDevice device) {
    DEVICES.remove(device.gid());
  }

  static @Nullable EmulatedDevice device(Gid gid) {
    return DEVICES.get(gid);
  }

  /** Whether the name was free. */
  static boolean listen(String name, EmulatedListener listener) {
    return LISTENERS.putIfAbsent(name, listener) == null;
  }

  static void unlisten(String name, EmulatedListener listener) {
    LISTENERS.remove(name, listener);
  }

  static @Nullable EmulatedListener listener(String name) {
    return LISTENERS.get(name);
  }
}
