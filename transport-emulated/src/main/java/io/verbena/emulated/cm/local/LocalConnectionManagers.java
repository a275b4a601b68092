// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.hca.ConnectionManagerFactory;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.PortSpace;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The connection managers of one fabric, which reach each other by name, and their listeners. */
public final class LocalConnectionManagers implements ConnectionManagerFactory {
  private final ConcurrentHashMap<Service, LocalListener> listeners = new ConcurrentHashMap<>();

  /** Creates an object without listeners. */
  public LocalConnectionManagers() {}

  @Override
  public ConnectionManager create(EmulatedDevice device) {
    LocalConnectionManager manager = new LocalConnectionManager(device, this);
    device.addListener(manager);
    return manager;
  }

  /** Registers a listener; returns whether the name was free. */
  boolean listen(PortSpace space, String name, LocalListener listener) {
    return listeners.putIfAbsent(new Service(space, name), listener) == null;
  }

  void unlisten(PortSpace space, String name, LocalListener listener) {
    listeners.remove(new Service(space, name), listener);
  }

  @Nullable LocalListener listener(PortSpace space, String name) {
    return listeners.get(new Service(space, name));
  }

  /** The key of a listener: the same name in two port spaces is two keys. */
  private record Service(PortSpace space, String name) {}
}
