// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Events that the program has not taken from a connection manager yet. Callers hold its monitor.
 * Events of a closed identifier are dropped when it is their turn, or all at once when they
 * outnumber the others: closing many identifiers does not search many events for each.
 */
public final class EventQueue {
  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();
  private int forgotten;

  /** Adds an event, unless its identifier is closed. */
  public void add(ConnectionEvent event) {
    ManagedIdentifier identifier = identifier(event);
    if (!identifier.forgotten) {
      events.add(event);
      identifier.untold++;
    }
  }

  private static ManagedIdentifier identifier(ConnectionEvent event) {
    return (ManagedIdentifier) event.identifier();
  }

  /** Takes the oldest event; returns null if there is none. */
  public @Nullable ConnectionEvent poll() {
    for (ConnectionEvent event = events.poll(); event != null; event = events.poll()) {
      identifier(event).untold--;
      if (!identifier(event).forgotten) {
        return event;
      }
      forgotten--;
    }
    return null;
  }

  /** Returns whether there is no event, not even one of a closed identifier. */
  public boolean isEmpty() {
    return events.isEmpty();
  }

  /** Removes and returns the requests to a listener that nobody took. */
  public List<ConnectionIdentifier> withdraw(ConnectionListener listener) {
    List<ConnectionIdentifier> requests = new ArrayList<>();
    events.removeIf(event -> event.listener() == listener && requests.add(event.identifier()));
    requests.forEach(request -> ((ManagedIdentifier) request).untold--);
    return requests;
  }

  /** Drops the events of a closed identifier that were not taken yet. */
  public void forget(ManagedIdentifier identifier) {
    if (identifier.forgotten) {
      return;
    }
    identifier.forgotten = true;
    forgotten += identifier.untold;
    if (2 * forgotten > events.size()) {
      events.removeIf(event -> identifier(event).forgotten);
      forgotten = 0;
    }
  }
}
