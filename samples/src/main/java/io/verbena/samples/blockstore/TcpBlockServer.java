// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.tcp.TcpConnection;
import io.verbena.samples.tcp.TcpServer;
import io.verbena.samples.tcp.TcpTransport;
import java.net.URI;
import java.time.Duration;
import org.reactivestreams.Publisher;

/** The block store over TCP: like {@link RdmaBlockServer}, but all bytes travel in messages. */
final class TcpBlockServer implements BlockServer {
  private final BlockCatalog catalog;
  private final TcpTransport transport;
  private final StreamLog streams = new StreamLog();
  private final TcpServer server;

  private TcpBlockServer(
      TcpTransport transport, URI address, BlockCatalog catalog, Duration limit) {
    this.catalog = catalog;
    this.transport = transport;
    this.server = Waits.value(transport.bind(address, this::serve), limit, "bind to " + address);
  }

  /**
   * Starts serving.
   *
   * @param catalog its blocks, in direct memory; closed by the caller, after this server
   * @param limit the longest time for binding
   */
  static TcpBlockServer start(
      TcpTransport transport, URI address, BlockCatalog catalog, Duration limit) {
    return new TcpBlockServer(transport, address, catalog, limit);
  }

  @Override
  public URI address() {
    return server.address();
  }

  @Override
  public StreamLog streams() {
    return streams;
  }

  @Override
  public void close() {
    server.dispose();
  }

  private Publisher<Void> serve(TcpConnection connection) {
    Answers answers = new Answers(catalog, streams, OneSided.NOT_SUPPORTED, transport.allocator());
    return connection.send(answers.to(connection.receive()));
  }
}
