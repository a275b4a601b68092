// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionManager;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Waits for the events of a connection manager, one after the other. One thread. */
public final class ConnectionEventWait {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionManager manager;
  private final Duration limit;

  /**
   * @param limit the longest time to wait for an event
   */
  public ConnectionEventWait(ConnectionManager manager, Duration limit) {
    this.manager = manager;
    this.limit = limit;
  }

  /** Waits for a client, without a limit. */
  public ConnectionEvent request() throws InterruptedException, ToolFailure {
    ConnectionEvent event = null;
    while (event == null) {
      event = manager.await(LOOK_NANOS);
    }
    return checked(event, Set.of(ConnectionEvent.Type.CONNECT_REQUEST));
  }

  /** Waits for the next event; fails if it has another type. */
  public ConnectionEvent expect(ConnectionEvent.Type type)
      throws InterruptedException, ToolFailure {
    return expect(Set.of(type));
  }

  /** Waits for the next event; fails if it has none of these types. */
  public ConnectionEvent expect(Set<ConnectionEvent.Type> types)
      throws InterruptedException, ToolFailure {
    ConnectionEvent event = manager.await(limit.toNanos());
    if (event == null) {
      throw new ToolFailure(
          "no " + text(types) + " within " + limit.toSeconds() + " s",
          "check that the other end runs");
    }
    return checked(event, types);
  }

  /** Returns whether the peer has disconnected. */
  public boolean isDisconnected() throws InterruptedException, ToolFailure {
    ConnectionEvent event = manager.await(0);
    if (event == null) {
      return false;
    }
    checked(event, Set.of(ConnectionEvent.Type.DISCONNECTED));
    return true;
  }

  private static String text(Set<ConnectionEvent.Type> types) {
    return types.stream().map(Enum::name).sorted().collect(Collectors.joining(" or "));
  }

  private static ConnectionEvent checked(ConnectionEvent event, Set<ConnectionEvent.Type> types)
      throws ToolFailure {
    if (types.contains(event.type())) {
      return event;
    }
    throw new ToolFailure(
        "cma event "
            + event.type()
            + ", error "
            + event.status()
            + " (expected: "
            + text(types)
            + ")",
        switch (event.type()) {
          case REJECTED, UNREACHABLE, CONNECT_ERROR ->
              "start the server first, this tool or its original; -p has to agree";
          case ADDR_ERROR, ROUTE_ERROR -> "check that a device of this machine reaches the address";
          default -> "look at the output of the other end";
        });
  }
}
