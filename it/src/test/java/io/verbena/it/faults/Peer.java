// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.faults;

import io.verbena.RdmaTransport;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

/** A program that is to be killed. It never ends by itself. */
final class Peer {
  static final int SLOT = 16 << 10;
  static final int SLOTS = 16;

  private Peer() {}

  /**
   * Runs the program. Arguments: {@code serve} accepts a connection, sends the location of its
   * memory as private data, and posts receives without end; {@code hold} takes a request and never
   * answers; {@code send URI} connects and sends without end; {@code echo} answers messages in the
   * reactive layer.
   */
  public static void main(String[] arguments) throws InterruptedException {
    switch (arguments[0]) {
      case "serve" -> serve();
      case "hold" -> hold();
      case "send" -> send(URI.create(arguments[1]));
      case "echo" -> echo();
      default -> throw new IllegalArgumentException("role: " + arguments[0]);
    }
  }

  private static void serve() throws InterruptedException {
    Side side = Side.open(Nodes.server(), SLOT * SLOTS);
    say("listening", side.listen());
    ConnectionIdentifier identifier = side.request();
    var pair = Side.pairOf(identifier);
    for (int i = 0; i < SLOTS; i++) {
      side.receive(pair, i, i * SLOT, SLOT);
    }
    ByteBuffer token =
        ByteBuffer.allocate(12).putLong(side.region().address()).putInt(side.region().rkey());
    identifier.accept(ConnectionParameters.of(token.flip()));
    side.expect(ConnectionEvent.Type.ESTABLISHED);
    while (true) {
      int slot = (int) side.success().workRequestId();
      side.receive(pair, slot, slot * SLOT, SLOT);
    }
  }

  private static void hold() throws InterruptedException {
    Side side = Side.open(Nodes.server(), SLOT);
    say("listening", side.listen());
    System.out.println("holding " + side.request().peer());
    new CountDownLatch(1).await();
  }

  private static void send(URI to) throws InterruptedException {
    Side side = Side.open(to.toString(), SLOT * SLOTS);
    ConnectionIdentifier identifier = side.connect(to, ConnectionParameters.defaults());
    side.expect(ConnectionEvent.Type.ESTABLISHED);
    var pair = Side.pairOf(identifier);
    for (int i = 0; i < SLOTS; i++) {
      side.post(pair, new SendWorkRequest().send().id(i), i * SLOT, SLOT);
    }
    while (true) {
      WorkCompletion completion = side.success();
      int slot = (int) completion.workRequestId();
      side.post(pair, new SendWorkRequest().send().id(slot), slot * SLOT, SLOT);
    }
  }

  private static void echo() throws InterruptedException {
    var server =
        RdmaTransport.create()
            .bind(URI.create(Nodes.server()), connection -> connection.send(connection.receive()))
            .block();
    System.out.println("listening " + Objects.requireNonNull(server).address());
    new CountDownLatch(1).await();
  }

  private static void say(String what, ConnectionListener listener) {
    System.out.println(what + " " + listener.address());
  }
}
