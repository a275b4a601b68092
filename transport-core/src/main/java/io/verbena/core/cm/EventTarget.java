// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.VerbsException;

/** Receives the events of a connection or of a listener. */
public interface EventTarget {

  /** Called for each event, on the dispatcher's thread. Must not block. */
  void event(ConnectionEvent event);

  /**
   * Called once on a listener's target, on the dispatcher's thread, if the device has failed and no
   * further event will come. Connections of a device that is gone get {@link
   * ConnectionEvent.Type#DEVICE_REMOVAL} before.
   */
  default void deviceFailed(VerbsException why) {}
}
