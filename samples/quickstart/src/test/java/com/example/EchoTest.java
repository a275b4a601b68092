package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The same server and client on an emulated HCA: no network, no hardware, no root. */
class EchoTest {
  private final RdmaTransport transport = RdmaTransport.create();

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  @Test
  void answersWithTheSameText() {
    RdmaServer server = EchoServer.bind(transport, URI.create("emulated://echo"));

    assertEquals("hello", EchoClient.ask(transport, server.address(), "hello"));
  }
}
