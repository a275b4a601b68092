// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;

/** A memory window whose key is recorded as dead when the window is closed. */
final class SanitizedMemoryWindow implements MemoryWindow {
  private final SanitizedDomain domain;
  private final MemoryWindow window;
  private final TrackedObject tracked;

  SanitizedMemoryWindow(SanitizedDomain domain, MemoryWindow window, CallSite place) {
    this.domain = domain;
    this.window = window;
    tracked = TrackedObject.of(this, domain.watched().device, "memory window", place);
    domain.watched().device.deadKeys().reborn(window.rkey());
  }

  MemoryWindow window() {
    return window;
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public MemoryWindowType type() {
    return window.type();
  }

  @Override
  public int rkey() {
    return window.rkey();
  }

  @Override
  public synchronized void close() {
    if (tracked.isOpen()) {
      int key = window.rkey();
      window.close();
      tracked.closed();
      domain.watched().device.deadKeys().died(key, CallSite.here());
    }
  }
}
