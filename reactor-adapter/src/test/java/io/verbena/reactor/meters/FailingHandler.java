// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;

/** A program in which a server's handler fails once; loaded by a class loader of its own. */
public final class FailingHandler implements Callable<String> {
  @Override
  public String call() {
    // A loop that is held up by a busy machine must not add a line to the log.
    RdmaOptions options = Ends.options().stallWarning(Ends.LIMIT).build();
    RdmaTransport serverSide = RdmaTransport.create(options);
    RdmaTransport clientSide = RdmaTransport.create(options);
    try {
      RdmaServer server =
          serverSide
              .bind(
                  Addresses.of("failing-handler"),
                  connection ->
                      connection.receive().next().flatMap(message -> fail(message.release())))
              .blockOptional(Ends.LIMIT)
              .orElseThrow();
      return clientSide
          .connect(Addresses.reach(server.address()))
          .flatMap(
              client ->
                  client
                      .send(Mono.fromSupplier(() -> Ends.message(client, 8, 1)))
                      .onErrorComplete()
                      .then(client.onClose().onErrorComplete())
                      .thenReturn("lost"))
          .blockOptional(Ends.LIMIT)
          .orElseThrow();
    } finally {
      clientSide.dispose();
      serverSide.dispose();
    }
  }

  private static Mono<Void> fail(boolean released) {
    return Mono.error(new IllegalStateException("thrown by a test, message released: " + released));
  }
}
