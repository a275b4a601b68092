// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBufAllocator;
import io.verbena.samples.tcp.TcpTransport;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The block store over TCP on loopback. */
final class TcpTwin implements StreamingTwin {
  private static final URI ANY_PORT = URI.create("tcp://127.0.0.1:0");

  private final Cleanup cleanup;
  private final TcpTransport clients;
  private final BlockServer server;

  private TcpTwin(Cleanup cleanup, TcpTransport clients, BlockServer server) {
    this.cleanup = cleanup;
    this.clients = clients;
    this.server = server;
  }

  /**
   * Serves a block on a free port.
   *
   * @param block owned by the twin
   * @param loops threads of the server, and of the clients
   * @param allocator of messages
   * @param limit for binding
   */
  static TcpTwin start(Block block, int loops, ByteBufAllocator allocator, Duration limit) {
    Cleanup cleanup = new Cleanup();
    try {
      BlockCatalog catalog = new BlockCatalog();
      catalog.add(block);
      cleanup.add(catalog::close);
      TcpTransport servers = new TcpTransport(loops, allocator, BlockProtocol.MAX_LENGTH);
      cleanup.add(servers::dispose);
      BlockServer server = TcpBlockServer.start(servers, ANY_PORT, catalog, limit);
      cleanup.add(server::close);
      TcpTransport clients = new TcpTransport(loops, allocator, Answers.MAX_MESSAGE_LENGTH);
      cleanup.add(clients::dispose);
      return new TcpTwin(cleanup, clients, server);
    } catch (RuntimeException e) {
      cleanup.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return "TCP";
  }

  @Override
  public URI address() {
    return server.address();
  }

  @Override
  public Mono<TcpBlockClient> connect() {
    return TcpBlockClient.connect(clients, address());
  }

  @Override
  public StreamLog streams() {
    return server.streams();
  }

  /** Returns the transport of its clients. */
  TcpTransport clients() {
    return clients;
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
