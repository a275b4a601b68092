// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client and a server of RSocket in this JVM, one connection; payloads are not copied. */
final class RSocketPair implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final RSocketTransport transport;
  private final Closeable bound;
  private final RSocket client;

  /**
   * Connects.
   *
   * @param transport the transport, which the pair closes
   * @param responder the responder of the server
   */
  RSocketPair(RSocketTransport transport, RSocket responder) {
    this.transport = transport;
    bound =
        present(
            RSocketServer.create(SocketAcceptor.with(responder))
                .payloadDecoder(PayloadDecoder.ZERO_COPY)
                .bind(transport.server())
                .block(LIMIT));
    client =
        present(
            RSocketConnector.create()
                .payloadDecoder(PayloadDecoder.ZERO_COPY)
                .connect(transport.client(bound))
                .block(LIMIT));
  }

  private static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("connection: none (expected: one)");
    }
    return value;
  }

  RSocket client() {
    return client;
  }

  @Override
  public void close() {
    client.dispose();
    client.onClose().onErrorComplete().block(LIMIT);
    bound.dispose();
    transport.close();
  }
}
