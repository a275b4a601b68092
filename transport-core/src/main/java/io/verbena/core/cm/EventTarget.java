// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.VerbsException;

/** Receives the events of a connection or of a listener. */
public interface EventTarget {

  /** Called for each event, on the dispatcher's thread; must not block it. */
  void event(ConnectionEvent event);

  /**
   * Called once if the device has failed and no further event will come, on the dispatcher's
   * thread. Of a device that is gone connections get {@link ConnectionEvent.Type#DEVICE_REMOVAL}
   * before.
   */
  default void deviceFailed(VerbsException why) {}
}
