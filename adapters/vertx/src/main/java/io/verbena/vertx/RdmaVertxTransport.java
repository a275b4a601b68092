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
 * A transport of Vert.x 5 over RDMA. A program only changes how it creates its {@code Vertx}.
 *
 * <pre>{@code
 * Vertx vertx = Vertx.builder()
 *     .withTransport(RdmaVertxTransport.create(URI.create("emulated://vertx")))
 *     .build();
 * }</pre>
 *
 * <p>TCP servers and clients, HTTP/1.1, HTTP/2, WebSockets and the clustered event bus then run
 * over RDMA channels. Datagrams, DNS over UDP and Unix domain sockets use sockets of NIO, on the
 * same event loops. Each {@code Vertx} opens the HCA, or shares it with others of the same URI and
 * options, and releases it when it closes. Its event loops are its own, as Vert.x runs on no
 * others: {@code RdmaSockets} of the same URI and options share the HCA with it, but not the loops.
 *
 * <p>A program may keep a Vert.x buffer as long as it likes. Received bytes are therefore copied
 * out of registered memory, as they would be out of a socket.
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
   * Returns a transport over an HCA.
   *
   * @param hca the URI of the HCA, as for {@link RdmaIoHandler#newFactory(URI)}
   */
  public static RdmaVertxTransport create(URI hca) {
    requireNonNull(hca, "hca");
    return overRdma(RdmaIoHandler.newFactory(hca), AutoIoHandler.newFactory(hca));
  }

  /**
   * Returns a transport over an HCA, with options.
   *
   * @param hca the URI of the HCA, as for {@link RdmaIoHandler#newFactory(URI)}
   * @param options the options, as for {@link RdmaIoHandler#newFactory(URI, RdmaOptions)}
   */
  public static RdmaVertxTransport create(URI hca, RdmaOptions options) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    return overRdma(RdmaIoHandler.newFactory(hca, options), AutoIoHandler.newFactory(hca, options));
  }

  /**
   * Returns a transport over the same HCA that uses TCP if the peer or this host has no RDMA. Its
   * servers listen over both at one port; a connect tries RDMA for 500 ms first.
   */
  public RdmaVertxTransport orTcp() {
    return orTcp(AutoSocketChannel::new);
  }

  /**
   * Like {@link #orTcp()}, with another limit on the attempt over RDMA. The medium that a connect
   * has found is remembered for a minute; with too short a limit, connects of a busy start time out
   * over RDMA and use TCP for that minute.
   *
   * @param patience at least 1 ms; at most half of a client's connect timeout is used
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

  /** Returns true: a missing HCA shows when a {@code Vertx} is built with this transport. */
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
