// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Echoes between containers, each message checked for its place, while one end is killed, paused or
 * taken off the network. An end gives its peer up after 8 timeouts of 0.27 s.
 */
@InContainers
@Tag("exhaustive")
@Tag("once")
class FaultsTest {
  private static final String ENDLESS = Long.toString(Long.MAX_VALUE);
  private static final int EAGER = 4096;
  private static final int KILLED = 128 + 9;
  private static final RoceNetwork NETWORK = new RoceNetwork("10.77.78.");

  private static VerbenaContainer server;
  private final List<VerbenaContainer> clients = new ArrayList<>();

  @BeforeAll
  static void serve() {
    server = NETWORK.server(2);
  }

  @AfterAll
  static void end() {
    NETWORK.close();
  }

  @AfterEach
  void endClients() {
    clients.forEach(VerbenaContainer::close);
  }

  private VerbenaContainer client(
      VerbenaContainer of, int host, int connections, int length, String count, int pause) {
    VerbenaContainer client = NETWORK.client(of, host, connections, length, count, pause);
    clients.add(client);
    return client;
  }

  /** One that goes on as fast as it can until it is ended, and is in the middle of it. */
  private VerbenaContainer endless(VerbenaContainer of, int address) {
    return begun(client(of, address, 1, EAGER, ENDLESS, 0));
  }

  /** One that only goes on, and leaves the processor to the others. */
  private VerbenaContainer bystander() {
    return begun(client(server, 11, 1, EAGER, ENDLESS, 2));
  }

  private static VerbenaContainer begun(VerbenaContainer client) {
    client.awaitOutput(EchoClient.PROGRESS, 1, RoceNetwork.LIMIT);
    return client;
  }

  private static void assertGoesOn(VerbenaContainer client) {
    RoceNetwork.awaitMore(client, EchoClient.PROGRESS, 2);
  }

  /**
   * Whose last messages were all acknowledged, and left no credit, has no retries to fail: it gives
   * up when the next message has waited for as long as it may.
   */
  private static void assertGaveUp(VerbenaContainer client, int host) {
    assertThat(client.awaitExit(RoceNetwork.LIMIT))
        .as(client.getLogs())
        .isEqualTo(EchoClient.FAILED);
    assertThat(client.getLogs())
        .contains(NETWORK.address(host) + ":" + RoceNetwork.PORT)
        .containsAnyOf("PeerUnreachableException", "RdmaTimeoutException");
  }

  private void assertServes(VerbenaContainer of, int address) {
    RoceNetwork.assertAllCameBack(client(of, address, 1, EAGER, "300", 0), 300);
  }

  @Test
  void aServerThatIsKilledIsGivenUpByItsClientsAndServesAgainAtTheSameAddress() {
    try (VerbenaContainer other = NETWORK.server(3)) {
      VerbenaContainer itsClient = endless(other, 10);
      VerbenaContainer bystander = bystander();
      other.kill();
      assertGaveUp(itsClient, 3);
      assertGoesOn(bystander);
      other.restart();
      assertServes(other, 12);
    }
  }

  @Test
  void aClientThatIsKilledIsGivenUpAndNobodyElseNotices() {
    VerbenaContainer killed = endless(server, 10);
    VerbenaContainer bystander = bystander();
    int ended = server.getLogs().split(EchoServer.ENDED, -1).length - 1;
    killed.kill();
    assertThat(killed.awaitExit(RoceNetwork.LIMIT)).isEqualTo(KILLED);
    server.awaitOutput(EchoServer.ENDED, ended + 1, RoceNetwork.LIMIT);
    assertGoesOn(bystander);
    killed.restart();
    assertGoesOn(killed);
  }

  @Test
  void aClientThatIsPausedForAMomentGoesOnWhereItWas() {
    VerbenaContainer paused = endless(server, 10);
    paused.pause();
    paused.resume();
    assertGoesOn(paused);
  }

  @Test
  void aServerThatIsPausedForLongIsGivenUpAndServesOthersThen() {
    try (VerbenaContainer other = NETWORK.server(3)) {
      VerbenaContainer itsClient = endless(other, 10);
      VerbenaContainer bystander = bystander();
      other.pause();
      assertGaveUp(itsClient, 3);
      assertGoesOn(bystander);
      other.resume();
      assertServes(other, 12);
    }
  }

  @Test
  void aClientThatIsOffTheNetworkForAMomentGoesOnWhereItWas() {
    VerbenaContainer cut = endless(server, 10);
    cut.disconnect(NETWORK.network());
    cut.connect(NETWORK.network(), NETWORK.address(10));
    assertGoesOn(cut);
  }

  @Test
  void aClientThatIsOffTheNetworkForLongGivesUpAndNobodyElseNotices() {
    VerbenaContainer cut = endless(server, 10);
    VerbenaContainer bystander = bystander();
    cut.disconnect(NETWORK.network());
    assertGaveUp(cut, 2);
    assertGoesOn(bystander);
  }

  @Test
  void fiftyConnectionsFromManyClientsAtOnceGetWhatIsTheirs() {
    var all = new ArrayList<VerbenaContainer>();
    for (int i = 0; i < 5; i++) {
      all.add(client(server, 20 + i, 10, EAGER * (i + 1), "60", 0));
    }
    for (VerbenaContainer each : all) {
      RoceNetwork.assertAllCameBack(each, 600);
    }
  }
}
