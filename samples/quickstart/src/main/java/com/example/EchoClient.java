package com.example;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import java.net.URI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** Sends a message to {@link EchoServer} and prints the answer. */
public final class EchoClient {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private EchoClient() {}

  /** Connects, sends a text, and returns the answer. */
  static String ask(RdmaTransport transport, URI address, String text) {
    RdmaConnection connection = transport.connect(address).block(LIMIT);
    ByteBuf message = connection.memory().allocator().buffer().writeBytes(text.getBytes(UTF_8));
    ByteBuf answer =
        connection.send(Mono.just(message)).then(connection.receive().next()).block(LIMIT);
    String received = answer.toString(UTF_8);
    answer.release(); // a received buffer belongs to the receiver
    connection.close().block(LIMIT);
    return received;
  }

  /** Sends "hello" to the given address, or to the default address of {@link EchoServer}. */
  public static void main(String[] args) {
    URI address = URI.create(args.length > 0 ? args[0] : EchoServer.ADDRESS);
    RdmaTransport transport = RdmaTransport.create();
    try {
      System.out.println("answer: " + ask(transport, address, "hello"));
    } finally {
      transport.dispose();
    }
  }
}
