package io.verbena.reactor.cm;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.reactor.connection.Connection;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.BaseSubscriber;

/** A server's handler at work on one connection: the end of either is the end of both. */
final class Handling extends BaseSubscriber<Void> {
  private final Connection connection;

  private Handling(Connection connection) {
    this.connection = connection;
  }

  static void start(
      Function<RdmaConnection, ? extends Publisher<Void>> handler, Connection connection) {
    Handling handling = new Handling(connection);
    connection.onClose().subscribe(null, lost -> handling.cancel(), handling::cancel);
    try {
      handler.apply(connection).subscribe(handling);
    } catch (Throwable e) {
      handling.hookOnError(e);
    }
  }

  @Override
  protected void hookOnComplete() {
    // Why it could not be closed gracefully is told by its onClose.
    connection.close().onErrorComplete(RdmaException.class).subscribe();
  }

  @Override
  protected void hookOnError(Throwable error) {
    connection.abort(
        new ConnectionClosedException(
            "handler", connection.peer(), null, "the handler failed: " + error, error));
  }
}
