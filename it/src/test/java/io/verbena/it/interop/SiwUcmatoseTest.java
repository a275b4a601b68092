// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.it.node.Side;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests programs on the emulated HCA, and on the same device through DiSNI, as peers of rdma-core's
 * {@code ucmatose} on the kernel's Soft-iWARP, with many connections at once.
 */
@Tag("siw")
@InSoftRoceGuest(nodes = 2, devices = GuestDevices.SIW)
class SiwUcmatoseTest {
  /** The port of ucmatose is fixed. */
  private static final int PORT = 7471;

  private static final int CONNECTIONS = 4;
  private static final int MESSAGES = 10;
  private static final int SIZE = 1000;
  private static final String ALIKE = "-c " + CONNECTIONS + " -C " + MESSAGES + " -S " + SIZE;
  private static final String CLOSING = "data transfers complete";
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @ParameterizedTest
  @ValueSource(strings = {"iwarp", "disni"})
  void isServedByIt(String scheme) throws Exception {
    try (Program ucmatose = ucmatose("-b %s %s".formatted(Nodes.node2(), ALIKE))) {
      Listening.onManager(PORT);
      URI to =
          URI.create("%s://%s:%d?source=%s".formatted(scheme, Nodes.node2(), PORT, Nodes.node1()));
      try (Side side = Side.open(to.toString(), SIZE)) {
        List<ConnectionIdentifier> connections = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
          ConnectionIdentifier connection = side.resolve(to);
          connections.add(connection);
          receive(side, connection);
          connection.connect(ConnectionParameters.defaults(), LIMIT.toNanos());
          side.expect(ConnectionEvent.Type.ESTABLISHED);
          assertHasNoExtensions(connection);
        }

        expectMessages(side);
        send(side, connections);

        assertThat(ucmatose.succeed(LIMIT)).contains(CLOSING).contains("return status 0");
        close(side, connections);
      }
    }
  }

  /**
   * Exchanges no messages, as our server would have to send first: on iWARP a passive end may not
   * do that, and siw breaks a connection on which a message comes before siw is ready (RFC 5044,
   * section 7.1.2). The server of ucmatose sends first all the same.
   */
  @ParameterizedTest
  @ValueSource(strings = {"iwarp", "disni"})
  void isConnectedToByIt(String scheme) throws Exception {
    URI here = URI.create("%s://%s:%d".formatted(scheme, Nodes.node2(), PORT));
    try (Side side = Side.open(here.toString(), SIZE);
        ConnectionListener listener = side.listen()) {
      assertThat(listener.address().getPort()).isEqualTo(PORT);
      String line = "-s %s -b %s -c %d -C 0".formatted(Nodes.node2(), Nodes.node1(), CONNECTIONS);
      try (Program ucmatose = ucmatose(line)) {
        List<ConnectionIdentifier> connections = new ArrayList<>();
        int established = 0;
        while (established < CONNECTIONS) {
          ConnectionEvent event = side.awaitEvent();
          if (event.type() == ConnectionEvent.Type.ESTABLISHED) {
            established++;
          } else {
            assertThat(event.type()).isEqualTo(ConnectionEvent.Type.CONNECT_REQUEST);
            connections.add(event.identifier());
            side.createQueuePair(event.identifier());
            event.identifier().accept(ConnectionParameters.defaults());
          }
        }
        for (ConnectionIdentifier each : connections) {
          assertHasNoExtensions(each);
          each.disconnect();
        }

        assertThat(ucmatose.succeed(LIMIT)).contains("return status 0");
        close(side, connections);
      }
    }
  }

  /**
   * Asserts that the connection lacks the extensions of RFC 7306, even if the peer's reply has
   * their request bit.
   */
  private static void assertHasNoExtensions(ConnectionIdentifier connection) {
    QueuePair pair = Side.pairOf(connection);
    assertThat(pair.supports(Capability.ATOMICS)).isFalse();
    assertThat(pair.supports(Capability.IMMEDIATE_DATA)).isFalse();
  }

  private static void receive(Side side, ConnectionIdentifier connection) {
    for (int i = 0; i < MESSAGES; i++) {
      side.receive(Side.pairOf(connection), i, 0, SIZE);
    }
  }

  private static void expectMessages(Side side) throws InterruptedException {
    for (int i = 0; i < CONNECTIONS * MESSAGES; i++) {
      assertThat(side.success().byteLength()).isEqualTo(SIZE);
    }
  }

  private static void send(Side side, List<ConnectionIdentifier> connections)
      throws InterruptedException {
    for (ConnectionIdentifier each : connections) {
      for (int i = 0; i < MESSAGES; i++) {
        side.post(Side.pairOf(each), new SendWorkRequest(1).id(i).send(), 0, SIZE);
      }
    }
    for (int i = 0; i < CONNECTIONS * MESSAGES; i++) {
      side.success();
    }
  }

  private static void close(Side side, List<ConnectionIdentifier> connections)
      throws InterruptedException {
    for (int i = 0; i < CONNECTIONS; i++) {
      side.expect(ConnectionEvent.Type.DISCONNECTED);
    }
    connections.forEach(Side::close);
  }

  private static Program ucmatose(String options) throws Exception {
    return Program.start(("ucmatose " + options).split(" ", -1));
  }
}
