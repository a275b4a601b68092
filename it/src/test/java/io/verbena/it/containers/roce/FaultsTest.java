package io.verbena.it.containers.roce;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Network.Ipam;
import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Echoes between containers, each message checked for its place, while one end is killed, paused or
 * taken off the network. An end gives its peer up after 8 timeouts of 0.27 s.
 */
@InContainers
@Tag("once")
class FaultsTest {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final String SUBNET = "10.77.78.";
  private static final String ENDLESS = Long.toString(Long.MAX_VALUE);
  private static final int PORT = 7471;
  private static final int EAGER = 4096;
  private static final int KILLED = 128 + 9;

  private static final Network NETWORK =
      Network.builder()
          .createNetworkCmdModifier(
              command ->
                  command.withIpam(
                      new Ipam().withConfig(new Ipam.Config().withSubnet(SUBNET + "0/24"))))
          .build();

  private static VerbenaContainer server;
  private final List<VerbenaContainer> clients = new ArrayList<>();

  @BeforeAll
  static void serve() {
    server = server(SUBNET + 2);
  }

  @AfterAll
  static void end() {
    server.close();
    NETWORK.close();
  }

  @AfterEach
  void endClients() {
    clients.forEach(VerbenaContainer::close);
  }

  private static VerbenaContainer server(String address) {
    VerbenaContainer started =
        new VerbenaContainer(EchoServer.class)
            .withArguments("roce://0.0.0.0:" + PORT)
            .withPort(PORT)
            .withReadiness(EchoServer.READY)
            .withNetwork(NETWORK)
            .withAddress(address);
    started.start();
    return started;
  }

  private VerbenaContainer client(
      VerbenaContainer of, int address, int connections, int length, String count, int pause) {
    VerbenaContainer client =
        new VerbenaContainer(EchoClient.class)
            .withArguments("roce://" + of.hostAndPort())
            .withArguments(Integer.toString(connections), Integer.toString(length), count)
            .withArguments(Integer.toString(pause))
            .withNetwork(NETWORK)
            .withAddress(SUBNET + address);
    clients.add(client);
    client.start();
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
    client.awaitOutput(EchoClient.PROGRESS, 1, LIMIT);
    return client;
  }

  private static void assertGoesOn(VerbenaContainer client) {
    int before = client.getLogs().split(EchoClient.PROGRESS, -1).length - 1;
    client.awaitOutput(EchoClient.PROGRESS, before + 2, LIMIT);
  }

  /**
   * Where nothing is under way just then, no packet goes unanswered: the send's own limit ends it.
   */
  private static void assertGaveUp(VerbenaContainer client, String address) {
    assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isEqualTo(EchoClient.FAILED);
    assertThat(client.getLogs())
        .containsAnyOf("PeerUnreachableException", "RdmaTimeoutException")
        .contains(address + ":" + PORT);
  }

  private void assertServes(VerbenaContainer of, int address) {
    VerbenaContainer client = client(of, address, 1, EAGER, "300", 0);
    assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isZero();
    assertThat(client.getLogs()).contains("300 " + EchoClient.DONE);
  }

  @Test
  void aServerThatIsKilledIsGivenUpByItsClientsAndServesAgainAtTheSameAddress() {
    try (VerbenaContainer other = server(SUBNET + 3)) {
      VerbenaContainer itsClient = endless(other, 10);
      VerbenaContainer bystander = bystander();
      other.kill();
      assertGaveUp(itsClient, SUBNET + 3);
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
    assertThat(killed.awaitExit(LIMIT)).isEqualTo(KILLED);
    server.awaitOutput(EchoServer.ENDED, ended + 1, LIMIT);
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
    try (VerbenaContainer other = server(SUBNET + 3)) {
      VerbenaContainer itsClient = endless(other, 10);
      VerbenaContainer bystander = bystander();
      other.pause();
      assertGaveUp(itsClient, SUBNET + 3);
      assertGoesOn(bystander);
      other.resume();
      assertServes(other, 12);
    }
  }

  @Test
  void aClientThatIsOffTheNetworkForAMomentGoesOnWhereItWas() {
    VerbenaContainer cut = endless(server, 10);
    cut.disconnect(NETWORK);
    cut.connect(NETWORK, SUBNET + 10);
    assertGoesOn(cut);
  }

  @Test
  void aClientThatIsOffTheNetworkForLongGivesUpAndNobodyElseNotices() {
    VerbenaContainer cut = endless(server, 10);
    VerbenaContainer bystander = bystander();
    cut.disconnect(NETWORK);
    assertGaveUp(cut, SUBNET + 2);
    assertGoesOn(bystander);
  }

  @Test
  void fiftyConnectionsFromManyClientsAtOnceGetWhatIsTheirs() {
    var all = new ArrayList<VerbenaContainer>();
    for (int i = 0; i < 5; i++) {
      all.add(client(server, 20 + i, 10, EAGER * (i + 1), "60", 0));
    }
    for (VerbenaContainer each : all) {
      assertThat(each.awaitExit(LIMIT)).as(each.getLogs()).isZero();
      assertThat(each.getLogs()).contains("600 " + EchoClient.DONE);
    }
  }
}
