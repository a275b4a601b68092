// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;

/** The address of a UD peer. The fabric finds the peer's port by the GID in it. */
final class EmulatedAddressHandle implements AddressHandle {
  private final EmulatedProtectionDomain domain;
  private final AddressVector vector;
  private volatile boolean closed;

  EmulatedAddressHandle(EmulatedProtectionDomain domain, AddressVector vector) {
    this.domain = domain;
    this.vector = vector;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public AddressVector vector() {
    return vector;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    domain.closed(EmulatedProtectionDomain.Kind.ADDRESS_HANDLE);
  }
}
