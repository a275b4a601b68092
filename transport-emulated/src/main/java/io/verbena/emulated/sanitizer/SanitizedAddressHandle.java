// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.ProtectionDomain;

/** An address handle that is reported if the program does not close it. */
final class SanitizedAddressHandle implements AddressHandle {
  private final SanitizedDomain domain;
  private final AddressHandle handle;
  private final TrackedObject tracked;

  SanitizedAddressHandle(SanitizedDomain domain, AddressHandle handle, CallSite place) {
    this.domain = domain;
    this.handle = handle;
    tracked = TrackedObject.of(this, domain.watched().device, "address handle", place);
  }

  AddressHandle handle() {
    return handle;
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public AddressVector vector() {
    return handle.vector();
  }

  @Override
  public void close() {
    handle.close();
    tracked.closed();
  }
}
