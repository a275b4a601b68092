// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.verbena.benchmarks.peers.NettyKind;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/** RSocket's own TCP transport over loopback, an event loop for each end. */
public final class OverTcp implements RSocketTransport {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final NettyKind kind;
  private final NettyLoops servers;
  private final NettyLoops clients;

  public OverTcp(NettyKind kind) {
    this.kind = kind;
    servers = new NettyLoops(kind);
    clients = new NettyLoops(kind);
  }

  @Override
  public ServerTransport<? extends Closeable> server() {
    return TcpServerTransport.create(
        TcpServer.create().runOn(servers, false).bindAddress(kind::address));
  }

  @Override
  public ClientTransport client(Closeable bound) {
    return TcpClientTransport.create(
        TcpClient.newConnection()
            .runOn(clients, false)
            .remoteAddress(((CloseableChannel) bound)::address));
  }

  @Override
  public void close() {
    Mono.when(
            clients.disposeLater(Duration.ZERO, LIMIT), servers.disposeLater(Duration.ZERO, LIMIT))
        .block(LIMIT);
  }
}
