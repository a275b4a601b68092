// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Reactor Netty on TCP. Compare it with {@link OverRdma}. */
final class OverTcp implements Transport {

  @Override
  public HttpServer server() {
    return HttpServer.create();
  }

  @Override
  public HttpClient client() {
    return HttpClient.create();
  }

  /** Does nothing, as Reactor Netty has its own event loops. */
  @Override
  public void close() {}
}
