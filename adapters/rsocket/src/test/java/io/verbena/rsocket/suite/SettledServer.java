// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket.suite;

import io.netty.buffer.ByteBuf;
import io.rsocket.Closeable;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ServerTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.rsocket.BoundRdmaServer;
import io.verbena.rsocket.RdmaServerTransport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A server that is closed only once the last frame of each connection was released. The suite
 * disposes schedulers after the close of the server, and with them the frames that its asynchronous
 * interceptor has scheduled.
 */
final class SettledServer implements Closeable {
  private static final Duration INTERVAL = Addresses.within(Duration.ofMillis(1));

  private final BoundRdmaServer server;
  private final List<AtomicReference<ByteBuf>> last;

  private SettledServer(BoundRdmaServer server, List<AtomicReference<ByteBuf>> last) {
    this.server = server;
    this.last = last;
  }

  static ServerTransport<SettledServer> over(RdmaServerTransport transport) {
    List<AtomicReference<ByteBuf>> last = new CopyOnWriteArrayList<>();
    return acceptor ->
        transport
            .start(connection -> uncancelled(acceptor.apply(watched(connection, last))))
            .map(server -> new SettledServer(server, last));
  }

  /**
   * Continues after the end of the connection: Reactor's {@code publishOn} in the interceptor loses
   * its frames if it is cancelled before its worker has begun.
   */
  private static Mono<Void> uncancelled(Mono<Void> acceptor) {
    Sinks.Empty<Void> end = Sinks.empty();
    acceptor.subscribe(null, end::tryEmitError, end::tryEmitEmpty);
    return end.asMono();
  }

  private static DuplexConnection watched(
      DuplexConnection connection, List<AtomicReference<ByteBuf>> last) {
    AtomicReference<ByteBuf> frame = new AtomicReference<>();
    last.add(frame);
    Flux<ByteBuf> received = connection.receive().doOnNext(frame::set);
    return (DuplexConnection)
        Proxy.newProxyInstance(
            DuplexConnection.class.getClassLoader(),
            new Class<?>[] {DuplexConnection.class},
            (proxy, method, arguments) ->
                method.getName().equals("receive")
                    ? received
                    : invoke(connection, method, arguments));
  }

  private static Object invoke(DuplexConnection connection, Method method, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(connection, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private boolean isSettled() {
    return server.connectionCount() == 0
        && last.stream().allMatch(frame -> frame.get() == null || frame.get().refCnt() == 0);
  }

  @Override
  public Mono<Void> onClose() {
    return server.onClose().then(Flux.interval(INTERVAL).takeUntil(n -> isSettled()).then());
  }

  @Override
  public void dispose() {
    server.dispose();
  }

  @Override
  public boolean isDisposed() {
    return server.isDisposed();
  }
}
