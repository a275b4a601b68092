// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Arrays;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** The end that advertises the memory of its data, and the memory to write them back to. */
final class PingClient {
  private PingClient() {}

  /**
   * Connects, pings and disconnects.
   *
   * @param out gets the data, or null
   */
  static void ping(URI server, PingOptions options, @Nullable PrintWriter out)
      throws InterruptedException, ToolFailure {
    int size = options.size();
    try (End end =
        End.open(
            server,
            RpingProtocol.DATA + 2 * size,
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE),
            RpingProtocol.DEPTH,
            RpingProtocol.DEPTH,
            false)) {
      ConnectionManager manager = end.keep(end.device().createConnectionManager());
      ConnectionEventWait events = new ConnectionEventWait(manager, options.limit());
      ConnectionIdentifier identifier =
          end.keep(manager.resolve(server, options.limit().toNanos()));
      events.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair pair =
          end.keep(
              identifier.createQueuePair(
                  end.domain(),
                  QueuePairOptions.reliable(
                      end.sent(), end.received(), RpingProtocol.DEPTH, RpingProtocol.DEPTH)));
      var protocol = new RpingProtocol(end, pair, events, new CompletionWait(end, options.limit()));
      identifier.connect(ConnectionParameters.defaults(), options.limit().toNanos());
      events.expect(ConnectionEvent.Type.ESTABLISHED);
      int count = options.count();
      for (int ping = 0; count == 0 || ping < count; ping++) {
        ping(end, protocol, ping, options, out);
      }
      identifier.disconnect();
      if (!protocol.isEnded()) {
        events.expect(ConnectionEvent.Type.DISCONNECTED);
      }
    }
  }

  private static void ping(
      End end, RpingProtocol protocol, int ping, PingOptions options, @Nullable PrintWriter out)
      throws InterruptedException, ToolFailure {
    int size = options.size();
    int sink = RpingProtocol.DATA + size;
    byte[] data = RpingText.of(ping, size);
    end.memory().put(RpingProtocol.DATA, data);
    protocol.advertise(RpingProtocol.DATA, size);
    protocol.message();
    protocol.advertise(sink, size);
    protocol.message();
    if (options.validate()) {
      byte[] back = new byte[size];
      end.memory().get(sink, back);
      int at = Arrays.mismatch(data, back);
      if (at >= 0) {
        throw PingOptions.mismatch(ping, at, back[at], data[at]);
      }
    }
    if (out != null) {
      out.println("ping data: " + RpingText.shown(end.memory(), sink, size));
      out.flush();
    }
  }
}
