package io.verbena.samples.http;

import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** What carries the requests: where the twins differ. */
interface Transport extends AutoCloseable {

  /** What the results call it. */
  String name();

  /** A server, not bound yet. */
  HttpServer server();

  /** A client of such servers. */
  HttpClient client();

  /** Ends what server and client ran on, behind them. */
  @Override
  void close();
}
