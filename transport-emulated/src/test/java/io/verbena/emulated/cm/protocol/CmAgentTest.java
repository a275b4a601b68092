// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two agents connect over a network that loses, repeats, delays and reorders messages. */
class CmAgentTest {
  private static final long CONNECT_NANOS = 20_000 * Network.MILLI;
  private static final int RUNS = 300;

  private static void connect(Network.End from, Network.End to, CmProgram program, long timeout) {
    program.communication = from.agent.connect(to.gid(), CmProgram.request(5), timeout, program);
  }

  @Test
  void connectsAndDisconnectsOnceWhateverTheNetworkDoes() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.3);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      passive.thinks = 200;
      assertThat(b.agent.listen(CmProgram.SERVICE, passive)).isTrue();

      connect(a, b, active, CONNECT_NANOS);
      network.runUntil(CONNECT_NANOS);
      assertThat(active.told).as("active, seed %d", seed).containsExactly("replied");
      assertThat(passive.told).as("passive, seed %d", seed).containsExactly("established");
      assertThat(passive.requests).as("requests told, seed %d", seed).isEqualTo(1);

      (seed % 2 == 0 ? active : passive).communication().disconnect();
      network.runToEnd();

      assertThat(seed % 2 == 0 ? passive.told : active.told)
          .as("the other end, seed %d", seed)
          .endsWith("disconnected")
          .hasSize(2);
      assertThat(a.agent.known() + b.agent.known()).as("left, seed %d", seed).isZero();
    }
  }

  @Test
  void endsSoonWhereTheHostSaysThatItHasNoHca() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);
    network.absent(b, CONNECT_NANOS);

    connect(a, b, active, CONNECT_NANOS);
    network.runUntil(CONNECT_NANOS / 20);

    assertThat(active.told).containsExactly("no HCA");
    assertThat(network.listening()).isZero();
    network.runToEnd();
    assertThat(a.agent.known()).isZero();
  }

  /** The refused message may have been an earlier copy. */
  @Test
  void findsAnHcaThatOpensAfterOneRefusalOfAMessageThatWasSentAgain() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);
    CmProgram passive = new CmProgram(network);
    b.agent.listen(CmProgram.SERVICE, passive);
    network.absent(b, 40 * Network.MILLI);

    connect(a, b, active, CONNECT_NANOS);
    network.runUntil(CONNECT_NANOS);

    assertThat(active.told).containsExactly("replied");
    assertThat(passive.told).containsExactly("established");
    assertThat(network.listening()).isZero();
  }

  @Test
  void isConnectedAtBothEndsOrAtNeitherWhenTimeIsShort() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.2);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      passive.thinks = 100;
      b.agent.listen(CmProgram.SERVICE, passive);

      connect(a, b, active, 60 * Network.MILLI);
      network.runUntil(CONNECT_NANOS);

      if (active.told.equals(List.of("replied"))) {
        assertThat(passive.told).as("passive, seed %d", seed).containsExactly("established");
      } else {
        assertThat(active.told).as("active, seed %d", seed).containsExactly("unreachable");
        assertThat(passive.told)
            .as("passive, seed %d", seed)
            .doesNotContain("established")
            .hasSizeLessThan(2);
      }
    }
  }

  @Test
  void tellsThePeerOfAnEndWhicheverStateItHasComeTo() {
    List<String> ends = new ArrayList<>();
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      passive.leaves = true;
      passive.leavesByDisconnect = seed % 2 == 0;
      b.agent.listen(CmProgram.SERVICE, passive);

      connect(a, b, active, CONNECT_NANOS);
      network.runToEnd();

      assertThat(active.told).as("active, seed %d", seed).isNotEmpty();
      String end = active.told.get(active.told.size() - 1);
      assertThat(end).as("active, seed %d", seed).isIn("rejected 28", "disconnected");
      assertThat(a.agent.known() + b.agent.known()).as("left, seed %d", seed).isZero();
      ends.add(end + passive.told);
    }
    assertThat(ends)
        .as("moments")
        .contains("rejected 28[]", "disconnected[]", "disconnected[established]");
  }

  /** The passive end waits 10 s for RTU and remembers the connection for 4 s more. */
  @Test
  void isConnectedAtBothEndsOrAtNeitherWhenTheClientIsSlow() {
    List<String> ends = new ArrayList<>();
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      active.thinks = 30_000;
      b.agent.listen(CmProgram.SERVICE, passive);

      connect(a, b, active, CONNECT_NANOS);
      network.runToEnd();

      boolean established = passive.told.equals(List.of("established"));
      String told = active.told + " " + passive.told;
      assertThat(told)
          .as("seed %d", seed)
          .isIn("[replied] [established]", "[replied, disconnected] [unreachable]");
      assertThat(a.agent.known()).as("seed %d", seed).isEqualTo(established ? 1 : 0);
      ends.add(told);
    }
    assertThat(ends).contains("[replied] [established]", "[replied, disconnected] [unreachable]");
  }

  @Test
  void isReadyOnlyWhileThePeerIs() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);
    CmProgram passive = new CmProgram(network);
    active.thinks = 1000;
    b.agent.listen(CmProgram.SERVICE, passive);
    connect(a, b, active, CONNECT_NANOS);
    while (active.told.isEmpty()) {
      network.runUntil(network.time.now() + Network.MILLI / 10);
    }

    passive.communication().reject(CmReason.CONSUMER_DEFINED, CmProgram.bytes("no"));
    network.runUntil(network.time.now() + 2 * Network.MILLI);

    assertThat(active.told).containsExactly("replied", "rejected 28");
    assertThat(active.communication().ready()).isFalse();
  }

  @Test
  void tellsARefusalWithItsData() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.3);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      passive.refuses = true;
      b.agent.listen(CmProgram.SERVICE, passive);

      connect(a, b, active, CONNECT_NANOS);
      network.runToEnd();

      assertThat(active.told).as("active, seed %d", seed).hasSize(1);
      assertThat(active.told.get(0)).as("active, seed %d", seed).startsWith("rejected 28");
      assertThat(a.agent.known() + b.agent.known()).as("left, seed %d", seed).isZero();
    }
  }

  @Test
  void refusesWhatNobodyListensTo() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);

    connect(a, b, active, CONNECT_NANOS);
    network.runToEnd();

    assertThat(active.told).containsExactly("rejected " + CmReason.INVALID_SERVICE_ID);
  }

  @Test
  void givesUpWhenNobodyIsThere() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End nobody = new Network(1, 0).end();
    CmProgram active = new CmProgram(network);
    Gid elsewhere = UdpGid.of(99, 4791);

    active.communication = a.agent.connect(elsewhere, CmProgram.request(5), CONNECT_NANOS, active);
    network.runToEnd();

    assertThat(active.told).containsExactly("unreachable");
    assertThat(network.messages()).as("it asks ever less often").isBetween(10, 60);
    assertThat(nobody.agent.known()).isZero();
  }

  @Test
  void answersARequestThatComesAgainWithoutTellingItAgain() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);
    CmProgram passive = new CmProgram(network);
    passive.thinks = 3000;
    b.agent.listen(CmProgram.SERVICE, passive);

    connect(a, b, active, CONNECT_NANOS);
    network.runUntil(CONNECT_NANOS);

    assertThat(passive.requests).isEqualTo(1);
    assertThat(active.told).containsExactly("replied");
  }

  @Test
  void takesAMessageFromNobodyButThePeer() {
    Network network = new Network(1, 0);
    Network.End a = network.end();
    Network.End b = network.end();
    CmProgram active = new CmProgram(network);
    CmProgram passive = new CmProgram(network);
    b.agent.listen(CmProgram.SERVICE, passive);
    connect(a, b, active, CONNECT_NANOS);
    network.runUntil(1000 * Network.MILLI);
    Communication here = active.communication();

    Gid stranger = UdpGid.of(77, 4791);
    a.agent.receive(
        new CmMessage.DisconnectRequest(
            1,
            /* localId= */ here.remoteId(),
            /* remoteId= */ here.localId(),
            100,
            Mad.padded(CmProgram.bytes(""), Mad.DISCONNECT_DATA)),
        stranger);
    b.agent.receive(CmProgram.request(5), stranger);

    assertThat(active.told).containsExactly("replied");
    assertThat(passive.requests).isEqualTo(1);
  }

  @Test
  void endsAConnectionAtBothEndsThatBothEnd() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.2);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network);
      CmProgram passive = new CmProgram(network);
      b.agent.listen(CmProgram.SERVICE, passive);
      connect(a, b, active, CONNECT_NANOS);
      network.runUntil(CONNECT_NANOS);

      active.communication().disconnect();
      passive.communication().disconnect();
      network.runToEnd();

      assertThat(active.told).as("seed %d", seed).containsExactly("replied");
      assertThat(passive.told).as("seed %d", seed).containsExactly("established");
      assertThat(a.agent.known() + b.agent.known()).as("left, seed %d", seed).isZero();
    }
  }
}
