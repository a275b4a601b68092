// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.reactor.connection.ConnectionContext;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Makes a connection for each subscription. */
public final class ConnectMono extends Mono<RdmaConnection> {
  private final URI address;
  private final ByteBuffer data;
  private final long timeoutNanos;
  private final Supplier<ConnectionContext> contexts;

  /**
   * @param address the address, without a host name to resolve
   * @param data private data of the program
   * @param timeoutNanos how long a connect may take
   * @param contexts returns the context of the next connection; may throw {@link RdmaException}
   */
  public ConnectMono(
      URI address, ByteBuffer data, long timeoutNanos, Supplier<ConnectionContext> contexts) {
    this.address = address;
    this.data = data;
    this.timeoutNanos = timeoutNanos;
    this.contexts = contexts;
  }

  @Override
  public void subscribe(CoreSubscriber<? super RdmaConnection> actual) {
    ConnectionContext context;
    try {
      context = contexts.get();
    } catch (RdmaException e) {
      Operators.error(actual, e);
      return;
    } catch (Throwable e) {
      Operators.error(
          actual, new RdmaConnectException("connect", address.toString(), "it threw " + e, e));
      return;
    }
    ConnectAttempt attempt = new ConnectAttempt(address, data, timeoutNanos, context, actual);
    try {
      actual.onSubscribe(attempt);
    } catch (Throwable thrown) {
      attempt.cancel();
      throw thrown;
    }
  }
}
