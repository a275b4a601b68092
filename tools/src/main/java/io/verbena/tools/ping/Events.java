package io.verbena.tools.ping;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionManager;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What a connection manager tells, one event after the other. One thread. */
final class Events {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionManager manager;
  private final Duration limit;

  Events(ConnectionManager manager, Duration limit) {
    this.manager = manager;
    this.limit = limit;
  }

  /** Waits for a client, as long as it takes. */
  ConnectionEvent request() throws InterruptedException, ToolFailure {
    ConnectionEvent event = null;
    while (event == null) {
      event = manager.await(LOOK_NANOS);
    }
    return checked(event, ConnectionEvent.Type.CONNECT_REQUEST);
  }

  /** Waits for the next event, which has to be of this type. */
  ConnectionEvent expect(ConnectionEvent.Type type) throws InterruptedException, ToolFailure {
    ConnectionEvent event = manager.await(limit.toNanos());
    if (event == null) {
      throw new ToolFailure(
          "no " + type + " within " + limit.toSeconds() + " s", "see whether the other end runs");
    }
    return checked(event, type);
  }

  /** Whether the peer has gone by now. */
  boolean isDisconnected() throws InterruptedException, ToolFailure {
    ConnectionEvent event = manager.await(0);
    if (event == null) {
      return false;
    }
    checked(event, ConnectionEvent.Type.DISCONNECTED);
    return true;
  }

  private static ConnectionEvent checked(ConnectionEvent event, ConnectionEvent.Type type)
      throws ToolFailure {
    if (event.type() == type) {
      return event;
    }
    throw new ToolFailure(
        "cma event " + event.type() + ", error " + event.status() + " (expected: " + type + ")",
        switch (event.type()) {
          case REJECTED, UNREACHABLE, CONNECT_ERROR ->
              "start the server first: `verbena ping -s -a URI`, or `rping -s`; -p has to agree";
          case ADDR_ERROR, ROUTE_ERROR -> "see whether a device here reaches the address";
          default -> "see what the other end says";
        });
  }
}
