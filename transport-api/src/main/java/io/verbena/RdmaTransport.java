// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ServiceLoader;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Connects to servers and binds servers. A transport owns its completion loops, its devices and its
 * registered memory; disposing it closes everything that it made. Thread-safe.
 *
 * <pre>{@code
 * RdmaTransport transport = RdmaTransport.create();
 * RdmaServer server = transport.bind(URI.create("emulated://echo"), c -> c.send(c.receive())).block();
 * RdmaConnection client = transport.connect(server.address()).block();
 * }</pre>
 */
public interface RdmaTransport extends Disposable {

  /** Creates a transport with the default options. */
  static RdmaTransport create() {
    return create(RdmaOptions.defaults());
  }

  /**
   * Creates a transport with these options. Looks the implementation and the verbs providers up
   * once: in the thread's context class loader, and those that it lacks in the class loader of this
   * class.
   *
   * @throws IllegalStateException if no implementation is on the class path
   */
  static RdmaTransport create(RdmaOptions options) {
    return ServiceLoader.load(Factory.class)
        .findFirst()
        .or(
            () ->
                ServiceLoader.load(Factory.class, RdmaTransport.class.getClassLoader()).findFirst())
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "no RdmaTransport on the class path; add io.verbena:verbena-reactor-adapter"))
        .create(options);
  }

  /** Returns the options that the transport was created with. */
  RdmaOptions options();

  /**
   * Connects to an address, within {@link RdmaOptions#connectTimeout}. Cancelling gives the
   * connection up. If a cancel races with the delivery, and the subscriber drops the connection, it
   * stays open until the transport is disposed.
   *
   * @return the connection; fails with {@link UnknownSchemeException}, {@link
   *     RdmaConnectException}, {@link HandshakeException} or {@link RdmaTimeoutException}
   */
  Mono<RdmaConnection> connect(URI address);

  /**
   * Connects as {@link #connect(URI)} does, with private data. The server's {@link AcceptHook} gets
   * the data before the connection is made.
   *
   * @param privateData the bytes from position to limit, copied; at most {@link
   *     ConnectRequest#MAX_PRIVATE_DATA} bytes, or the connect fails with {@link
   *     RdmaConnectException}
   */
  Mono<RdmaConnection> connect(URI address, ByteBuffer privateData);

  /**
   * Listens on an address. Calls {@code handler} with each connection, on the connection's
   * completion loop, and closes the connection when the handler's publisher ends: gracefully on
   * completion, at once on an error. If a cancel races with the bind, a server that no subscriber
   * gets may listen until the transport is disposed.
   *
   * @return the server; fails with {@link UnknownSchemeException} or {@link RdmaConnectException}
   */
  Mono<RdmaServer> bind(URI address, Function<RdmaConnection, ? extends Publisher<Void>> handler);

  /**
   * Listens as {@link #bind(URI, Function)} does; {@code hook} decides on each connect request that
   * is within the limits of the options.
   */
  Mono<RdmaServer> bind(
      URI address, AcceptHook hook, Function<RdmaConnection, ? extends Publisher<Void>> handler);

  /**
   * Returns the registered memory that connections to and from {@code address} use. Waits up to
   * {@link RdmaOptions#connectTimeout} for the lookup of a host name.
   *
   * @throws IllegalStateException if it had to wait on a thread that must not block, such as a
   *     completion loop's
   * @throws UnknownSchemeException if no provider has the address's scheme
   * @throws IllegalStateException for {@code rdma://host:port}, whose media share no memory
   */
  RdmaMemory memory(URI address);

  /**
   * Disposes connections, servers, loops, memory and devices, in this order; idempotent. A close
   * that fails is tried once more and keeps nothing else open; if it fails again, this throws, and
   * a further call tries again.
   */
  @Override
  void dispose();

  /** Creates transports; {@link ServiceLoader} finds the implementation. */
  interface Factory {
    /** Creates a transport with these options. */
    RdmaTransport create(RdmaOptions options);
  }
}
