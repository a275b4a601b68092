// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Carries the requests: the only part that differs between TCP and RDMA. */
interface Transport extends AutoCloseable {

  /** A server, not bound yet. */
  HttpServer server();

  /** A client of such servers. */
  HttpClient client();

  /** Ends the event loops, after the server or the client that ran on them. */
  @Override
  void close();
}
