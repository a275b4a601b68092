// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.verbs.MemoryRegion;
import java.util.Set;

/** A user's memory region that is registered for peers, with its token. */
final class SharedRegion implements RdmaMemory.Region {
  private final Registration registration;
  private final RemoteMemory token;

  SharedRegion(Registration registration, Set<RemoteMemory.Right> rights) {
    this.registration = registration;
    MemoryRegion region = registration.region();
    token = new RemoteMemory(region.address(), region.length(), region.rkey(), rights);
  }

  @Override
  public RemoteMemory token() {
    return token;
  }

  @Override
  public void close() {
    registration.close();
  }

  @Override
  public String toString() {
    return (registration.isOpen() ? "Region[" : "Region[closed, ") + token + ']';
  }
}
