package io.verbena.core.cm;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.VerbsException;

/** Who the events of a connection or of a listener are for. */
public interface EventTarget {

  /** An event came; on the desk's thread, which must not be held up. */
  void event(ConnectionEvent event);

  /**
   * The device has failed, and no further event will come; once, on the desk's thread. Connections
   * are told by {@link ConnectionEvent.Type#DEVICE_REMOVAL} before.
   */
  default void deviceFailed(VerbsException why) {}
}
