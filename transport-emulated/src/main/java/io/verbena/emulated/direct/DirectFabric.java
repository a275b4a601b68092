// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.hca.Secrets;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A fabric within this JVM: the thread that posts a request moves its bytes, memory to memory.
 * Queue pairs find the devices of their peers here, by GID.
 */
public class DirectFabric implements Fabric {
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;

  /** Without packets there are no retransmissions to count. */
  private static final Set<Counter> COUNTED = Set.of(Counter.RNR_SENT, Counter.RNR_RECEIVED);

  private final ConcurrentHashMap<Gid, EmulatedDevice> devices = new ConcurrentHashMap<>();

  /**
   * The same devices as an array: a bind iterates over them, and an iterator would be allocated
   * each time.
   */
  private volatile EmulatedDevice[] plugged = {};

  /** Creates a fabric without devices. */
  public DirectFabric() {}

  @Override
  public final Secrets secrets() {
    return Secrets.STRONG;
  }

  @Override
  public EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new DirectQueuePair(this, domain, number, options, null);
  }

  @Override
  public final Set<Counter> counted() {
    return COUNTED;
  }

  @Override
  public final Gid nextGid() {
    return new Gid(LINK_LOCAL, secrets().nextLong());
  }

  @Override
  public synchronized void plug(EmulatedDevice device) {
    devices.put(device.gid(), device);
    plugged = devices.values().toArray(EmulatedDevice[]::new);
  }

  @Override
  public synchronized void unplug(EmulatedDevice device) {
    devices.remove(device.gid());
    plugged = devices.values().toArray(EmulatedDevice[]::new);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A thread that copies owns the send queue of a queue pair of the fabric. This waits for all
   * queue pairs rather than those that are connected to one device, since connections may change
   * during a copy.
   */
  @Override
  public final void awaitCopies() {
    for (EmulatedDevice device : plugged) {
      // All queue pairs of a fabric are of one class.
      device.forEachQueuePair(pair -> ((DirectQueuePair) pair).sends().ownership.awaitCopies());
    }
  }

  /** Returns whether no device is plugged in. */
  public final boolean isEmpty() {
    return devices.isEmpty();
  }

  @Nullable EmulatedDevice device(Gid gid) {
    return devices.get(gid);
  }
}
