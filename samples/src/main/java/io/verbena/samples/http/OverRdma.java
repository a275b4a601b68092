// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import io.verbena.netty.RdmaSockets;
import io.verbena.reactornetty.RdmaLoopResources;
import java.net.URI;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Reactor Netty on an HCA. Compare it with {@link OverTcp}. */
final class OverRdma implements Transport {
  private final RdmaSockets sockets;
  private final LoopResources loops;

  /**
   * @param hca its address
   */
  OverRdma(URI hca) {
    sockets = RdmaSockets.create(hca);
    loops = RdmaLoopResources.create(sockets);
  }

  @Override
  public HttpServer server() {
    return HttpServer.create().runOn(loops);
  }

  @Override
  public HttpClient client() {
    return HttpClient.create().runOn(loops);
  }

  @Override
  public void close() {
    sockets.close();
  }
}
