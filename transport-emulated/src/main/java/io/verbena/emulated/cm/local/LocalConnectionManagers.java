// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.hca.ConnectionManagerFactory;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.PortSpace;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The connection managers of one fabric, which reach each other by name, and their listeners.
 * Thread-safe.
 */
public final class LocalConnectionManagers implements ConnectionManagerFactory {
  private final ConcurrentHashMap<Service, LocalListener> listeners = new ConcurrentHashMap<>();

  /** Creates a fabric's connection managers, without listeners. */
  public LocalConnectionManagers() {}

  @Override
  public ConnectionManager create(EmulatedDevice device) {
    LocalConnectionManager manager = new LocalConnectionManager(device, this);
    device.addListener(manager);
    return manager;
  }

  /** Registers a listener; returns false if the name is taken. */
  boolean listen(PortSpace space, String name, LocalListener listener) {
    return listeners.putIfAbsent(new Service(space, name), listener) == null;
  }

  void unlisten(PortSpace space, String name, LocalListener listener) {
    listeners.remove(new Service(space, name), listener);
  }

  @Nullable LocalListener listener(PortSpace space, String name) {
    return listeners.get(new Service(space, name));
  }

  /** The key of a listener; each port space has its own names. */
  private record Service(PortSpace space, String name) {}
}
