// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import static java.util.Objects.requireNonNull;

import io.netty.channel.IoHandlerFactory;
import io.verbena.RdmaOptions;
import io.verbena.netty.RdmaIoHandler;
import io.vertx.core.transport.Transport;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A transport of Vert.x 5 over RDMA: all that a program changes is how it makes its Vert.x.
 *
 * <pre>{@code
 * Vertx vertx = Vertx.builder()
 *     .withTransport(RdmaVertxTransport.create(URI.create("emulated://vertx")))
 *     .build();
 * }</pre>
 *
 * <p>TCP servers and clients, HTTP/1.1, HTTP/2, WebSockets and the clustered event bus then run
 * over RDMA channels. Datagrams, DNS and Unix domain sockets stay sockets of NIO, on the same event
 * loops. Each Vert.x opens the HCA, or shares it with those of the same address and options, and
 * closes it as it closes.
 *
 * <p>A Vert.x buffer is kept for as long as its user likes: what is received is copied out of
 * registered memory, as it would be out of a socket.
 */
public final class RdmaVertxTransport implements Transport {
  private final StreamsOverRdma implementation;

  private RdmaVertxTransport(IoHandlerFactory loops) {
    implementation = new StreamsOverRdma(Transport.NIO.implementation(), loops);
  }

  /**
   * A transport over an HCA.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   */
  public static RdmaVertxTransport create(URI hca) {
    requireNonNull(hca, "hca");
    return new RdmaVertxTransport(RdmaIoHandler.newFactory(hca));
  }

  /**
   * A transport over an HCA, with options.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI, RdmaOptions)} takes it
   * @param options likewise
   */
  public static RdmaVertxTransport create(URI hca, RdmaOptions options) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    return new RdmaVertxTransport(RdmaIoHandler.newFactory(hca, options));
  }

  /** Returns {@code rdma}. */
  @Override
  public String name() {
    return "rdma";
  }

  /** Returns true: whether there is such an HCA is seen when a Vert.x is built with it. */
  @Override
  public boolean available() {
    return true;
  }

  @Override
  public @Nullable Throwable unavailabilityCause() {
    return null;
  }

  @Override
  public io.vertx.core.spi.transport.Transport implementation() {
    return implementation;
  }
}
