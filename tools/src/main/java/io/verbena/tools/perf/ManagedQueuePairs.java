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
import java.util.concurrent.TimeUnit;

/**
 * Queue pairs that the connection manager connects, one after the other, at one port: first the one
 * over which the ends exchange their parameters, then those of the test. One thread.
 */
final class ManagedQueuePairs {
  private static final int MOST_RETRIES = 7;

  /** The client repeats a connect, as perftest's server does not listen during its set-up. */
  private static final int MOST_REQUESTS = 10;

  private static final long PAUSE_MILLIS = 100;

  private static final Set<ConnectionEvent.Type> ANSWERS =
      Set.of(
          ConnectionEvent.Type.ESTABLISHED,
          ConnectionEvent.Type.REJECTED,
          ConnectionEvent.Type.UNREACHABLE,
          ConnectionEvent.Type.CONNECT_ERROR);

  private final End end;
  private final URI address;
  private final Gid gid;
  private final boolean client;
  private final PerfPlan plan;
  private final ConnectionManager manager;
  private final ConnectionEventWait events;
  private final List<ConnectionIdentifier> connected = new ArrayList<>();
  private int disconnected;

  /**
   * Creates the connection manager; the server starts to listen.
   *
   * @param address the server's address
   * @param gid the GID of this end's queue pairs
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
      end.keep(manager.listen(address, plan.pairs() + 1));
    }
  }

  /** Connects the queue pair for parameters; the server waits for it without a limit. */
  QueuePairChannel meet() throws ToolFailure, InterruptedException {
    ConnectionIdentifier identifier = end.keep(client ? resolved() : events.request().identifier());
    QueuePairChannel channel =
        new QueuePairChannel(end, identifier, this::isDisconnected, plan.limit());
    if (client) {
      identifier.connect(parameters(0), plan.limit().toNanos());
    } else {
      identifier.accept(parameters(0));
    }
    events.expect(ConnectionEvent.Type.ESTABLISHED);
    return channel;
  }

  /**
   * Connects those of the test.
   *
   * @param outstanding READs and atomics under way at once, each way
   */
  List<TestQueuePair> connect(int outstanding) throws ToolFailure, InterruptedException {
    List<TestQueuePair> pairs = new ArrayList<>();
    if (!client) {
      accept(parameters(outstanding), pairs);
      return pairs;
    }
    while (pairs.size() < plan.pairs()) {
      pairs.add(connect(parameters(outstanding)));
    }
    return pairs;
  }

  private TestQueuePair connect(ConnectionParameters parameters)
      throws ToolFailure, InterruptedException {
    for (int request = 1; ; request++) {
      ConnectionIdentifier identifier = end.keep(resolved());
      TestQueuePair pair = create(identifier);
      identifier.connect(parameters, plan.limit().toNanos());
      boolean last = request == MOST_REQUESTS;
      ConnectionEvent answer =
          events.expect(last ? Set.of(ConnectionEvent.Type.ESTABLISHED) : ANSWERS);
      if (answer.type() == ConnectionEvent.Type.ESTABLISHED) {
        connected.add(identifier);
        return pair;
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
  }

  private ConnectionIdentifier resolved() throws ToolFailure, InterruptedException {
    ConnectionIdentifier identifier = manager.resolve(address, plan.limit().toNanos());
    events.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    return identifier;
  }

  /** A request may overtake the last event of the previous connection. */
  private void accept(ConnectionParameters parameters, List<TestQueuePair> pairs)
      throws ToolFailure, InterruptedException {
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
        connected.add(identifier);
      }
    }
  }

  private TestQueuePair create(ConnectionIdentifier identifier) {
    // A receiver may have a credit under way in addition to its own messages.
    int credit = ReceiveCredits.areNeeded(plan, end.device().attributes()) ? 1 : 0;
    QueuePairOptions options =
        QueuePairOptions.reliable(
                end.sent(), end.received(), plan.txDepth() + credit, plan.rxDepth())
            .withInlineData(plan.inline());
    return new TestQueuePair(
        end.keep(identifier.createQueuePair(end.domain(), options)),
        end.device().port().lid(),
        gid);
  }

  private static ConnectionParameters parameters(int outstanding) {
    return new ConnectionParameters(
        ByteBuffer.allocate(0), outstanding, outstanding, MOST_RETRIES, MOST_RETRIES);
  }

  /** Returns whether the peer has disconnected one; some clients of perftest end like that. */
  private boolean isDisconnected() throws ToolFailure, InterruptedException {
    if (events.isDisconnected()) {
      disconnected++;
    }
    return disconnected > 0;
  }

  /** Disconnects those of the test, which the server does and the client waits for. */
  void disconnect() throws ToolFailure, InterruptedException {
    if (!client) {
      connected.forEach(ConnectionIdentifier::disconnect);
    }
    while (disconnected < connected.size()) {
      events.expect(ConnectionEvent.Type.DISCONNECTED);
      disconnected++;
    }
  }
}
