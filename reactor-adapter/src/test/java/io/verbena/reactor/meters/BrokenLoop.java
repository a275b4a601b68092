// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import io.verbena.RdmaConnection;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;

/** A program in which a loop breaks down; loaded by a class loader of its own. */
public final class BrokenLoop implements Callable<String> {
  @Override
  public String call() {
    try (Ends ends = Ends.create(Ends.options().loops(1))) {
      RdmaConnection client = ends.connectLimited().client();
      Thread loop = loopOf(client);
      LimitedProvider.breakLoop(loop, new OutOfMemoryError("thrown by a test"));
      send(client).onErrorComplete().subscribe();
      client.onClose().onErrorComplete().block(Ends.LIMIT);
      loopOf(ends.connectLimited().client());
      return loop.getName();
    }
  }

  private static Thread loopOf(RdmaConnection connection) {
    return send(connection)
        .then(Mono.fromSupplier(Thread::currentThread))
        .blockOptional(Ends.LIMIT)
        .orElseThrow();
  }

  private static Mono<Void> send(RdmaConnection connection) {
    return connection.send(Mono.fromSupplier(() -> Ends.message(connection, 8, 1)));
  }
}
