// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ConnectionListener;
import java.net.URI;

/** A listener that is reported if the program does not close it. */
final class SanitizedListener implements ConnectionListener {
  private final SanitizedManager manager;
  private final ConnectionListener listener;
  private final TrackedObject tracked;

  SanitizedListener(SanitizedManager manager, ConnectionListener listener, CallSite place) {
    this.manager = manager;
    this.listener = listener;
    tracked = TrackedObject.of(this, manager.watched(), "listener on " + listener.address(), place);
  }

  ConnectionListener listener() {
    return listener;
  }

  @Override
  public URI address() {
    return listener.address();
  }

  @Override
  public void close() {
    listener.close();
    tracked.closed();
    manager.remove(this);
  }
}
