// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.net.URI;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The block store over RDMA. Requests and streams are messages; blocks are read and written, and
 * tickets drawn, by the clients' HCAs, without a thread of this program.
 */
final class RdmaBlockServer implements BlockServer {
  private final BlockCatalog catalog;
  private final Exports exports;
  private final StreamLog streams = new StreamLog();
  private final RdmaServer server;

  private RdmaBlockServer(
      RdmaTransport transport, URI address, BlockCatalog catalog, Exports exports, Duration limit) {
    this.catalog = catalog;
    this.exports = exports;
    this.server = Waits.value(transport.bind(address, this::serve), limit, "bind to " + address);
  }

  /**
   * Starts serving.
   *
   * @param catalog its blocks, in direct memory; closed by the caller, after this server
   * @param limit the longest time for binding
   */
  static RdmaBlockServer start(
      RdmaTransport transport, URI address, BlockCatalog catalog, Duration limit) {
    Exports exports = new Exports(transport.memory(address));
    try {
      return new RdmaBlockServer(transport, address, catalog, exports, limit);
    } catch (RuntimeException e) {
      exports.close();
      throw e;
    }
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
    exports.close();
  }

  private Publisher<Void> serve(RdmaConnection connection) {
    Uploads uploads = new Uploads(catalog, connection.memory());
    Answers answers =
        new Answers(
            catalog, streams, new RdmaOneSided(exports, uploads), connection.memory().allocator());
    Mono<Void> requests = connection.send(answers.to(connection.receive()));
    Mono<Void> writes = connection.send(uploads.receipts(connection.immediates()));
    return Mono.when(requests, writes).doFinally(signal -> uploads.close());
  }
}
