package io.verbena.emulated;

import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What emulated HCAs are plugged into: devices by GID, listeners by name. It decides how requests
 * travel, so all queue pairs on a fabric are of one kind.
 */
class Fabric {
  /** Of all devices that were opened without an option that asks for another one. */
  static final Fabric DIRECT = new Fabric(Secrets.STRONG);

  private final Secrets secrets;
  private final ConcurrentHashMap<Gid, EmulatedDevice> devices = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, EmulatedListener> listeners = new ConcurrentHashMap<>();

  Fabric(Secrets secrets) {
    this.secrets = secrets;
  }

  /** Where its devices take what a peer must not guess from. */
  final Secrets secrets() {
    return secrets;
  }

  EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new DirectQueuePair(domain, number, options, null);
  }

  /** The GID of a device that is being opened here. */
  Gid nextGid() {
    return new Gid(0xfe80_0000_0000_0000L, secrets.nextLong());
  }

  /** Has a task run after a time, for a device; not at all once that is closed. */
  void schedule(EmulatedDevice device, Runnable task, long delayNanos) {
    device.scheduleByClock(task, delayNanos);
  }

  void plug(EmulatedDevice device) {
    devices.put(device.gid(), device);
  }

  void unplug(EmulatedDevice device) {
    devices.remove(device.gid());
  }

  /** Whether no device is plugged in. */
  final boolean isEmpty() {
    return devices.isEmpty();
  }

  final @Nullable EmulatedDevice device(Gid gid) {
    return devices.get(gid);
  }

  /** Whether the name was free. */
  final boolean listen(String name, EmulatedListener listener) {
    return listeners.putIfAbsent(name, listener) == null;
  }

  final void unlisten(String name, EmulatedListener listener) {
    listeners.remove(name, listener);
  }

  final @Nullable EmulatedListener listener(String name) {
    return listeners.get(name);
  }
}
