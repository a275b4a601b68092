package io.verbena.core.cm;

import io.verbena.verbs.ConnectionEvent;

/** Who the events of a connection or of a listener are for. */
public interface EventTarget {

  /** An event came; on the desk's thread, which must not be held up. */
  void event(ConnectionEvent event);
}
