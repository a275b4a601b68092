// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import java.net.URI;

/**
 * A connection between the nodes with both ends in one process and one thread. Closing the link
 * closes everything on both sides.
 */
public final class Link implements AutoCloseable {
  private final Side client;
  private final Side server;
  private final ConnectionListener listener;
  private final ConnectionIdentifier active;
  private final ConnectionIdentifier passive;

  private Link(
      Side client,
      Side server,
      ConnectionListener listener,
      ConnectionIdentifier active,
      ConnectionIdentifier passive) {
    this.client = client;
    this.server = server;
    this.listener = listener;
    this.active = active;
    this.passive = passive;
  }

  /** Connects node 1 to node 2, each with {@code bytes} of memory. */
  public static Link open(int bytes, ConnectionParameters parameters) throws InterruptedException {
    Side server = Side.open(Nodes.server(), bytes);
    ConnectionListener listener = server.listen();
    URI to = Nodes.fromNode1(listener.address());
    Side client = Side.open(to.toString(), bytes);
    ConnectionIdentifier active = client.connect(to, parameters);
    ConnectionIdentifier passive = server.request();
    passive.accept(parameters);
    client.expect(ConnectionEvent.Type.ESTABLISHED);
    server.expect(ConnectionEvent.Type.ESTABLISHED);
    return new Link(client, server, listener, active, passive);
  }

  /** Returns the end on node 1, which connected. */
  public Side client() {
    return client;
  }

  /** Returns the end on node 2, which accepted. */
  public Side server() {
    return server;
  }

  /** Returns the connection on node 1. */
  public ConnectionIdentifier active() {
    return active;
  }

  /** Returns the connection on node 2. */
  public ConnectionIdentifier passive() {
    return passive;
  }

  /** Returns the queue pair on node 1. */
  public QueuePair clientPair() {
    return Side.pairOf(active);
  }

  /** Returns the queue pair on node 2. */
  public QueuePair serverPair() {
    return Side.pairOf(passive);
  }

  @Override
  public void close() {
    Side.close(active);
    Side.close(passive);
    listener.close();
    client.close();
    server.close();
  }
}
