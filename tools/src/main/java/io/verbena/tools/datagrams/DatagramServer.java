// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.datagrams;

import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.io.PrintWriter;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** The end that offers its queue pairs, receives, and replies. One thread. */
final class DatagramServer implements AutoCloseable {
  private final DatagramOptions options;
  private final Datagrams datagrams;
  private final ConnectionListener listener;
  private final ConnectionEventWait events;

  /** Listens. */
  DatagramServer(URI address, DatagramOptions options) throws ToolFailure {
    this.options = options;
    datagrams = new Datagrams(address, options);
    try {
      ConnectionManager manager =
          datagrams.end().keep(datagrams.end().device().createConnectionManager());
      events = new ConnectionEventWait(manager, options.limit());
      listener =
          datagrams.end().keep(manager.listen(PortSpace.UDP, address, options.connections()));
    } catch (RuntimeException e) {
      datagrams.close();
      throw e;
    }
  }

  /** The address that it listens on. */
  URI address() {
    return listener.address();
  }

  /**
   * Waits for one client, without a limit, and serves it to its end.
   *
   * @param out gets a line for each step, or null
   */
  void serve(@Nullable PrintWriter out) throws InterruptedException, ToolFailure {
    for (int i = 0; i < options.connections(); i++) {
      ConnectionEvent request =
          i == 0 ? events.request() : events.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      ConnectionIdentifier identifier = datagrams.end().keep(request.identifier());
      datagrams.add(identifier);
      identifier.accept(ConnectionParameters.defaults());
    }
    if (options.messages() > 0) {
      DatagramsCommand.say(out, "receiving data transfers");
      datagrams.receive();
      DatagramsCommand.say(out, "sending replies");
      datagrams.send();
      DatagramsCommand.say(out, "data transfers complete");
    }
    DatagramsCommand.say(out, "test complete");
  }

  @Override
  public void close() {
    datagrams.close();
  }
}
