// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.datagrams;

import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Objects;

/** The end that requests the server's queue pairs, sends, and checks the replies. */
final class DatagramClient {
  private DatagramClient() {}

  /** Runs to its end. */
  static void run(URI server, DatagramOptions options, PrintWriter out)
      throws InterruptedException, ToolFailure {
    try (Datagrams datagrams = new Datagrams(server, options)) {
      DatagramsCommand.say(out, "connecting");
      ConnectionManager manager =
          datagrams.end().keep(datagrams.end().device().createConnectionManager());
      ConnectionEventWait events = new ConnectionEventWait(manager, options.limit());
      for (int i = 0; i < options.connections(); i++) {
        ConnectionIdentifier identifier =
            datagrams.end().keep(manager.resolve(PortSpace.UDP, server, options.limit().toNanos()));
        events.expect(ConnectionEvent.Type.ADDR_RESOLVED);
        datagrams.add(identifier);
        identifier.connect(ConnectionParameters.defaults(), options.limit().toNanos());
        ConnectionEvent event = answer(events, i);
        datagrams.answered(Objects.requireNonNull(event.datagramPeer(), "datagramPeer"));
      }
      if (options.messages() > 0) {
        datagrams.fill();
        DatagramsCommand.say(out, "initiating data transfers");
        datagrams.send();
        DatagramsCommand.say(out, "receiving data transfers");
        datagrams.receive();
        datagrams.validate();
        DatagramsCommand.say(out, "data transfers complete");
      }
      DatagramsCommand.say(out, "test complete");
    }
  }

  /** A server that has answered before has no further queue pairs. */
  private static ConnectionEvent answer(ConnectionEventWait events, int answered)
      throws InterruptedException, ToolFailure {
    try {
      return events.expect(ConnectionEvent.Type.ESTABLISHED);
    } catch (ToolFailure e) {
      throw answered == 0
          ? e
          : new ToolFailure(
              "queue pair " + (answered + 1) + ": " + e.getMessage(), "give both ends the same -c");
    }
  }
}
