// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.TestQueuePair;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Queue pairs that the connection manager connects, one after the other. One thread. */
final class ManagedQueuePairs {
  private static final int MOST_RETRIES = 7;

  private final End end;
  private final URI address;
  private final Gid gid;
  private final boolean client;
  private final PerfPlan plan;
  private final ConnectionManager manager;
  private final ConnectionEventWait events;

  /**
   * The server listens from now on.
   *
   * @param address where
   * @param gid that the device has there
   */
  ManagedQueuePairs(End end, URI address, Gid gid, boolean client, PerfPlan plan) {
    this.end = end;
    this.address = address;
    this.gid = gid;
    this.client = client;
    this.plan = plan;
    manager = end.keep(end.device().createConnectionManager());
    events = new ConnectionEventWait(manager, plan.limit());
    if (!client) {
      end.keep(manager.listen(address, plan.pairs()));
    }
  }

  /**
   * Connects them.
   *
   * @param outstanding READs and atomics under way at once, each way
   */
  List<TestQueuePair> connect(int outstanding) throws ToolFailure, InterruptedException {
    ConnectionParameters parameters =
        new ConnectionParameters(
            ByteBuffer.allocate(0), outstanding, outstanding, MOST_RETRIES, MOST_RETRIES);
    return client ? connect(parameters) : accept(parameters);
  }

  private List<TestQueuePair> connect(ConnectionParameters parameters)
      throws ToolFailure, InterruptedException {
    List<TestQueuePair> pairs = new ArrayList<>();
    while (pairs.size() < plan.pairs()) {
      ConnectionIdentifier identifier = end.keep(manager.resolve(address, plan.limit().toNanos()));
      events.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      pairs.add(create(identifier));
      identifier.connect(parameters, plan.limit().toNanos());
      events.expect(ConnectionEvent.Type.ESTABLISHED);
    }
    return pairs;
  }

  /** A request may overtake the last word of the connection before it. */
  private List<TestQueuePair> accept(ConnectionParameters parameters)
      throws ToolFailure, InterruptedException {
    List<TestQueuePair> pairs = new ArrayList<>();
    int established = 0;
    while (established < plan.pairs()) {
      ConnectionEvent event =
          events.expect(
              Set.of(ConnectionEvent.Type.CONNECT_REQUEST, ConnectionEvent.Type.ESTABLISHED));
      if (event.type() == ConnectionEvent.Type.ESTABLISHED) {
        established++;
      } else {
        ConnectionIdentifier identifier = end.keep(event.identifier());
        pairs.add(create(identifier));
        identifier.accept(parameters);
      }
    }
    return pairs;
  }

  private TestQueuePair create(ConnectionIdentifier identifier) {
    QueuePairOptions options =
        QueuePairOptions.reliable(end.sent(), end.received(), plan.txDepth(), plan.rxDepth())
            .withInlineData(plan.inline());
    return new TestQueuePair(end.keep(identifier.createQueuePair(end.domain(), options)), gid);
  }
}
