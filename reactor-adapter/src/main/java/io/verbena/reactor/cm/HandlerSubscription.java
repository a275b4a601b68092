// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.reactor.connection.Connection;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;

/**
 * The subscription to a server's handler for one connection. The end of either one ends the other.
 */
final class HandlerSubscription extends BaseSubscriber<Void> {
  private final Connection connection;

  private HandlerSubscription(Connection connection) {
    this.connection = connection;
  }

  static void start(
      Function<RdmaConnection, ? extends Publisher<Void>> handler, Connection connection) {
    HandlerSubscription subscription = new HandlerSubscription(connection);
    try {
      connection.onClose().subscribe(null, lost -> subscription.cancel(), subscription::cancel);
      handler.apply(connection).subscribe(subscription);
    } catch (Throwable e) {
      subscription.hookOnError(e);
    }
  }

  @Override
  protected void hookOnComplete() {
    // onClose() reports why the connection could not be closed gracefully.
    connection.close().onErrorComplete(RdmaException.class).subscribe();
  }

  @Override
  protected void hookOnError(Throwable error) {
    if (error instanceof ConnectionClosedException && connection.isClosedByPeer()) {
      // A send that the peer stopped: nothing failed.
      hookOnComplete();
      return;
    }
    connection.abort(
        new ConnectionClosedException(
            "handler", connection.peer(), null, "the handler failed: " + error, error));
  }
}
