package io.verbena.emulated;

import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePairOptions;
import java.util.Set;
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
  private final ConcurrentHashMap<Service, EmulatedListener> listeners = new ConcurrentHashMap<>();

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

  /** What its devices count: without packets there is nothing to be sent again. */
  Set<Counter> counted() {
    return Set.of(Counter.RNR_SENT, Counter.RNR_RECEIVED);
  }

  /** What its devices are called. */
  String deviceName() {
    return EmulatedDevice.NAME;
  }

  /** The largest packet that its devices send. */
  Mtu mtu() {
    return EmulatedDevice.MTU;
  }

  /** Takes a number for a queue pair; false if another device of the same HCA has it. */
  boolean takeNumber(int number) {
    return true;
  }

  /** Gives such a number back. */
  void giveNumber(int number) {}

  ConnectionManager createConnectionManager(EmulatedDevice device) {
    EmulatedConnectionManager manager = new EmulatedConnectionManager(device);
    device.created(manager);
    return manager;
  }

  /**
   * Somebody polled a completion queue that is empty.
   *
   * @return whether there may be something in it now
   */
  boolean progress() {
    return false;
  }

  /** Whether {@link #progress} is of any use. */
  boolean isDrivenByPolling() {
    return false;
  }

  /** Somebody is about to sleep until a completion comes, and polls no more. */
  void pollingEnds() {}

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
  final boolean listen(PortSpace space, String name, EmulatedListener listener) {
    return listeners.putIfAbsent(new Service(space, name), listener) == null;
  }

  final void unlisten(PortSpace space, String name, EmulatedListener listener) {
    listeners.remove(new Service(space, name), listener);
  }

  final @Nullable EmulatedListener listener(PortSpace space, String name) {
    return listeners.get(new Service(space, name));
  }

  /** What is listened on: the same name in two port spaces is two of them. */
  private record Service(PortSpace space, String name) {}
}
