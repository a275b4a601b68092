// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBufAllocator;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The block store over RDMA. */
final class RdmaTwin implements StreamingTwin {
  private final Cleanup cleanup;
  private final RdmaTransport servers;
  private final RdmaTransport clients;
  private final BlockServer server;
  private final Block block;

  private RdmaTwin(
      Cleanup cleanup,
      RdmaTransport servers,
      RdmaTransport clients,
      BlockServer server,
      Block block) {
    this.cleanup = cleanup;
    this.servers = servers;
    this.clients = clients;
    this.server = server;
    this.block = block;
  }

  /**
   * Loads a file into registered memory and serves it.
   *
   * @param uri chooses the provider
   * @param options of the server's transport and of the clients'
   * @param limit for binding
   */
  static RdmaTwin start(URI uri, RdmaOptions options, Path file, Duration limit)
      throws IOException {
    Cleanup cleanup = new Cleanup();
    try {
      RdmaTransport servers = RdmaTransport.create(options);
      cleanup.add(servers::dispose);
      BlockCatalog catalog = new BlockCatalog();
      cleanup.add(catalog::close);
      Block block = Block.load(file, servers.memory(uri).allocator());
      catalog.add(block);
      BlockServer server = RdmaBlockServer.start(servers, uri, catalog, limit);
      cleanup.add(server::close);
      RdmaTransport clients = RdmaTransport.create(options);
      cleanup.add(clients::dispose);
      return new RdmaTwin(cleanup, servers, clients, server, block);
    } catch (IOException | RuntimeException e) {
      cleanup.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return "RDMA";
  }

  @Override
  public URI address() {
    return server.address();
  }

  @Override
  public Mono<RdmaBlockClient> connect() {
    return RdmaBlockClient.connect(clients, address());
  }

  @Override
  public StreamLog streams() {
    return server.streams();
  }

  /** Returns the served block, in the server's memory. */
  Block block() {
    return block;
  }

  /** The server's memory. */
  RdmaMemory serverMemory() {
    return servers.memory(address());
  }

  /** Registered memory of the clients. */
  ByteBufAllocator clientMemory() {
    return clients.memory(address()).allocator();
  }

  /** Returns the transport of its clients. */
  RdmaTransport clients() {
    return clients;
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
