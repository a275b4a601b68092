// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Sinks;

/** Two connected ends in this JVM, each with a reactive transport of one loop. */
final class ReactivePair implements AutoCloseable {
  private static final URI ADDRESS = URI.create("emulated://verbena-bench");
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final RdmaTransport clients;
  private final RdmaTransport servers;
  private final RdmaConnection client;
  private final RdmaConnection server;

  ReactivePair(PollMode clientMode, PollMode serverMode) {
    this(RdmaOptions.defaults(), clientMode, serverMode);
  }

  ReactivePair(RdmaOptions base, PollMode clientMode, PollMode serverMode) {
    RdmaOptions.Builder options = base.toBuilder().loops(1);
    clients = RdmaTransport.create(options.pollMode(clientMode).build());
    servers = RdmaTransport.create(options.pollMode(serverMode).build());
    Sinks.One<RdmaConnection> accepted = Sinks.one();
    RdmaServer listener =
        present(
            servers
                .bind(
                    ADDRESS,
                    connection -> {
                      accepted.tryEmitValue(connection).orThrow();
                      return connection.onClose();
                    })
                .block(LIMIT));
    client = present(clients.connect(listener.address()).block(LIMIT));
    server = present(accepted.asMono().block(LIMIT));
  }

  RdmaConnection client() {
    return client;
  }

  RdmaConnection server() {
    return server;
  }

  private static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("connection: none (expected: one)");
    }
    return value;
  }

  @Override
  public void close() {
    clients.dispose();
    servers.dispose();
  }
}
