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
 * Connects and binds. A transport owns its completion loops, its devices and its registered memory;
 * disposing it closes all that came from it. Thread-safe.
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
   * Creates a transport with these options. The thread's context class loader finds the
   * implementation and the verbs providers, once; what it lacks, the class loader of this class
   * finds.
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

  /** Returns the options that it was created with. */
  RdmaOptions options();

  /**
   * Connects to an address, within {@link RdmaOptions#connectTimeout}. Cancelling gives the
   * connection up. A cancel that races with delivery may leave a connection that a subscriber which
   * drops values never sees; it is closed with the transport.
   *
   * @return the connection, or {@link UnknownSchemeException}, {@link RdmaConnectException}, {@link
   *     HandshakeException}, {@link RdmaTimeoutException}
   */
  Mono<RdmaConnection> connect(URI address);

  /**
   * Connects as {@link #connect(URI)}, with bytes for the {@link AcceptHook} of the server, which
   * it sees before the connection is made.
   *
   * @param privateData from position to limit, copied; at most {@link
   *     ConnectRequest#MAX_PRIVATE_DATA} bytes, or the connect fails with {@link
   *     RdmaConnectException}
   */
  Mono<RdmaConnection> connect(URI address, ByteBuffer privateData);

  /**
   * Listens on an address. Each connection is given to {@code handler} on its completion loop, and
   * is closed when the handler's publisher ends: gracefully on completion, at once on an error. A
   * cancel that races with the bind may leave a server that nobody gets; it is closed with the
   * transport.
   *
   * @return the server, or {@link UnknownSchemeException}, {@link RdmaConnectException}
   */
  Mono<RdmaServer> bind(URI address, Function<RdmaConnection, ? extends Publisher<Void>> handler);

  /**
   * Listens as {@link #bind(URI, Function)}, and asks {@code hook} for each connection that the
   * limits of the options leave room for whether to accept it.
   */
  Mono<RdmaServer> bind(
      URI address, AcceptHook hook, Function<RdmaConnection, ? extends Publisher<Void>> handler);

  /**
   * Returns the registered memory that connections to and from {@code address} use. Waits for the
   * look-up of a host name, up to {@link RdmaOptions#connectTimeout}.
   *
   * @throws IllegalStateException if it had to wait in a thread that must not block, as a
   *     completion loop's
   * @throws UnknownSchemeException if no provider takes the address
   * @throws IllegalStateException for {@code rdma://host:port}, as its media share no memory
   */
  RdmaMemory memory(URI address);

  /**
   * Disposes connections, servers, loops, memory and devices, in this order; idempotent. What fails
   * keeps nothing else from being closed, and is tried twice; if it is still left, this throws, and
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
