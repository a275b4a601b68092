// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Reactor Netty as it is. Compare it with {@link OverRdma}. */
final class OverTcp implements Transport {

  @Override
  public HttpServer server() {
    return HttpServer.create();
  }

  @Override
  public HttpClient client() {
    return HttpClient.create();
  }

  /** Reactor Netty has event loops of its own. */
  @Override
  public void close() {}
}
