// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** The end that reads the client's advertised data and writes them back. One thread. */
final class PingServer implements AutoCloseable {
  private static final int BACKLOG = 3;

  private final PingOptions options;
  private final End end;
  private final ConnectionListener listener;
  private final ConnectionEventWait events;

  /** Listens. */
  PingServer(URI address, PingOptions options) {
    this.options = options;
    end =
        End.open(
            address,
            RpingProtocol.DATA + options.size(),
            EnumSet.of(Access.LOCAL_WRITE),
            RpingProtocol.DEPTH,
            RpingProtocol.DEPTH,
            false);
    try {
      ConnectionManager manager = end.keep(end.device().createConnectionManager());
      events = new ConnectionEventWait(manager, options.limit());
      listener = end.keep(manager.listen(address, BACKLOG));
    } catch (RuntimeException e) {
      end.close();
      throw e;
    }
  }

  /** The address that it listens on. */
  URI address() {
    return listener.address();
  }

  /**
   * Serves one client to its end.
   *
   * @param out gets the data, or null
   * @return the number of pings
   */
  int serve(@Nullable PrintWriter out) throws InterruptedException, ToolFailure {
    ConnectionIdentifier identifier = end.keep(events.request().identifier());
    QueuePair pair =
        end.keep(
            identifier.createQueuePair(
                end.domain(),
                QueuePairOptions.reliable(
                    end.sent(), end.received(), RpingProtocol.DEPTH, RpingProtocol.DEPTH)));
    var protocol = new RpingProtocol(end, pair, events, new CompletionWait(end, options.limit()));
    identifier.accept(ConnectionParameters.defaults());
    events.expect(ConnectionEvent.Type.ESTABLISHED);
    int pings = 0;
    for (ByteBuffer source = protocol.awaitMessage();
        source != null;
        source = protocol.awaitMessage()) {
      long from = source.getLong();
      int key = source.getInt();
      int length = length(source.getInt());
      protocol.move(new SendWorkRequest().read(from, key), length);
      look(pings++, length, out);
      protocol.goOn();
      ByteBuffer sink = protocol.message();
      SendWorkRequest write = new SendWorkRequest().write(sink.getLong(), sink.getInt());
      protocol.move(write, Math.min(length, length(sink.getInt())));
      protocol.goOn();
    }
    return pings;
  }

  private int length(int length) throws ToolFailure {
    if (length < 0 || length > options.size()) {
      throw new ToolFailure(
          "the client pings with " + length + " bytes (expected: at most " + options.size() + ")",
          "give both ends the same -S");
    }
    return length;
  }

  private void look(int ping, int length, @Nullable PrintWriter out) throws ToolFailure {
    if (out != null) {
      out.println("server ping data: " + RpingText.shown(end.memory(), RpingProtocol.DATA, length));
      out.flush();
    }
    if (options.validate()) {
      byte[] expected = RpingText.of(ping, length);
      byte[] came = new byte[length];
      end.memory().get(RpingProtocol.DATA, came);
      int at = Arrays.mismatch(expected, came);
      if (at >= 0) {
        throw PingOptions.mismatch(ping, at, came[at], expected[at]);
      }
    }
  }

  @Override
  public void close() {
    end.close();
  }
}
