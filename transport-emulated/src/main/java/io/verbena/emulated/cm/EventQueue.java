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
 * Events of a connection manager that the program has not taken yet. Callers hold the monitor of
 * this queue. Events of closed identifiers are dropped when they reach the head of the queue, or
 * all at once when they outnumber the others, so that closing many identifiers does not search the
 * queue for each.
 */
public final class EventQueue {
  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();
  private int forgotten;

  /** Adds an event, unless its identifier is closed. */
  public void add(ConnectionEvent event) {
    ManagedIdentifier identifier = identifier(event);
    if (!identifier.forgotten) {
      events.add(event);
      identifier.untaken++;
    }
  }

  private static ManagedIdentifier identifier(ConnectionEvent event) {
    return (ManagedIdentifier) event.identifier();
  }

  /** Removes and returns the oldest event; null if there is none. */
  public @Nullable ConnectionEvent poll() {
    for (ConnectionEvent event = events.poll(); event != null; event = events.poll()) {
      identifier(event).untaken--;
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

  /** Removes and returns the requests to a listener that the program has not taken. */
  public List<ConnectionIdentifier> withdraw(ConnectionListener listener) {
    List<ConnectionIdentifier> requests = new ArrayList<>();
    events.removeIf(event -> event.listener() == listener && requests.add(event.identifier()));
    requests.forEach(request -> ((ManagedIdentifier) request).untaken--);
    return requests;
  }

  /** Drops the events of a closed identifier that the program has not taken. */
  public void forget(ManagedIdentifier identifier) {
    if (identifier.forgotten) {
      return;
    }
    identifier.forgotten = true;
    forgotten += identifier.untaken;
    if (2 * forgotten > events.size()) {
      events.removeIf(event -> identifier(event).forgotten);
      forgotten = 0;
    }
  }
}
