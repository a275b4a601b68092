package com.example;

import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.net.URI;
import reactor.core.publisher.Mono;

/** Sends every message back. Run it first, then {@link EchoClient}. */
public final class EchoServer {
  static final String ADDRESS = "roce://127.0.0.1:7000";

  private EchoServer() {}

  /** Listens on an address and sends every message of every connection back. */
  static RdmaServer bind(RdmaTransport transport, URI address) {
    return transport.bind(address, EchoServer::echo).block();
  }

  private static Mono<Void> echo(RdmaConnection connection) {
    System.out.println("connected: " + connection.peer());
    return connection.send(connection.receive());
  }

  /** Serves until the process is ended. */
  public static void main(String[] args) {
    URI address = URI.create(args.length > 0 ? args[0] : ADDRESS);
    RdmaTransport transport = RdmaTransport.create();
    // Closes the connections, also at Ctrl-C, so that clients are notified at once.
    Runtime.getRuntime().addShutdownHook(new Thread(transport::dispose));
    RdmaServer server = bind(transport, address);
    System.out.println("listening: " + server.address());
    server.onClose().block();
  }
}
