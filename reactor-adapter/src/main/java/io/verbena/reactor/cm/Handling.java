package io.verbena.reactor.cm;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.reactor.connection.Connection;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.SignalType;

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
      Exceptions.throwIfJvmFatal(e);
      handling.hookOnError(e);
    }
  }

  @Override
  protected void hookOnComplete() {
    connection.close().subscribe(null, Handling::toldByOnClose);
  }

  @Override
  protected void hookOnError(Throwable error) {
    connection.abort(
        new ConnectionClosedException(
            "handler", connection.peer(), null, "the handler failed: " + error, error));
  }

  @Override
  protected void hookFinally(SignalType type) {
    // Cancelled by the end of the connection, or ended by itself: nothing is held here.
  }

  /** A failure to close gracefully is the connection's, and its onClose tells it. */
  private static void toldByOnClose(Throwable error) {
    requireTold(error);
  }

  private static void requireTold(Throwable error) {
    if (!(error instanceof io.verbena.RdmaException)) {
      throw Exceptions.propagate(error);
    }
  }
}
