// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import static java.util.Objects.requireNonNull;

import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.verbena.RdmaOptions;
import io.verbena.netty.AutoIoHandler;
import io.verbena.netty.AutoServerSocketChannel;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaChannelOption;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import io.vertx.core.transport.Transport;
import java.net.URI;
import java.time.Duration;
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
 * over RDMA channels. Datagrams, DNS over UDP and Unix domain sockets stay sockets of NIO, on the
 * same event loops. Each Vert.x opens the HCA, or shares it with those of the same address and
 * options, and closes it as it closes. Its event loops are its own, as Vert.x runs on no others:
 * {@code RdmaSockets} of the same address and options share the HCA with it, and not the loops.
 *
 * <p>A Vert.x buffer is kept for as long as its user likes: what is received is copied out of
 * registered memory, as it would be out of a socket.
 */
public final class RdmaVertxTransport implements Transport {
  private static final Duration LEAST_PATIENCE = Duration.ofMillis(1);
  private static final Duration MOST_PATIENCE = Duration.ofMillis(Integer.MAX_VALUE);

  private final IoHandlerFactory orTcp;
  private final StreamsOverRdma implementation;

  private RdmaVertxTransport(IoHandlerFactory orTcp, StreamsOverRdma implementation) {
    this.orTcp = orTcp;
    this.implementation = implementation;
  }

  private static RdmaVertxTransport overRdma(IoHandlerFactory loops, IoHandlerFactory orTcp) {
    return new RdmaVertxTransport(
        orTcp,
        new StreamsOverRdma(
            Transport.NIO.implementation(),
            loops,
            RdmaSocketChannel::new,
            RdmaServerSocketChannel::new));
  }

  /**
   * A transport over an HCA.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   */
  public static RdmaVertxTransport create(URI hca) {
    requireNonNull(hca, "hca");
    return overRdma(RdmaIoHandler.newFactory(hca), AutoIoHandler.newFactory(hca));
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
    return overRdma(RdmaIoHandler.newFactory(hca, options), AutoIoHandler.newFactory(hca, options));
  }

  /**
   * Returns a transport over the same HCA that takes TCP where the peer, or this host, has no RDMA,
   * and whose servers listen for both at one port. A connect tries RDMA for half a second first.
   */
  public RdmaVertxTransport orTcp() {
    return orTcp(AutoSocketChannel::new);
  }

  /**
   * As {@link #orTcp()}, with another time for RDMA. What a connect finds is remembered for a
   * minute, so a time that is short sends the connects of a busy start over TCP until then.
   *
   * @param patience at least a millisecond; at most half of a client's connect timeout counts
   */
  public RdmaVertxTransport orTcp(Duration patience) {
    requireNonNull(patience, "patience");
    if (patience.compareTo(LEAST_PATIENCE) < 0 || patience.compareTo(MOST_PATIENCE) > 0) {
      throw new IllegalArgumentException(
          "patience: " + patience + " (expected: 1 to " + Integer.MAX_VALUE + " ms)");
    }
    int millis = (int) patience.toMillis();
    return orTcp(
        () -> {
          AutoSocketChannel channel = new AutoSocketChannel();
          channel.config().setOption(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, millis);
          return channel;
        });
  }

  private RdmaVertxTransport orTcp(ChannelFactory<AutoSocketChannel> clients) {
    return new RdmaVertxTransport(
        orTcp,
        new StreamsOverRdma(
            Transport.NIO.implementation(), orTcp, clients, AutoServerSocketChannel::new));
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
