// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import io.verbena.it.ratis.FaultRun;
import io.verbena.it.ratis.PreviousRatis;
import io.verbena.it.ratis.RegisterClient;
import io.verbena.it.ratis.RegisterServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.MountableFile;

/**
 * Tests registers that three servers replicate with Ratis, each on a host of its own, and a client
 * that calls them all the time, during faults of servers and network. All start on the previous
 * version of Ratis; in the first round the servers are upgraded one after the other.
 */
@InContainers
@Tag("exhaustive")
@Tag("once")
@EnabledIfSystemProperty(
    named = "verbena.ratis.faults.rounds",
    matches = "\\d+",
    disabledReason = "takes minutes: bin/suite ratis-faults")
class RatisFaultsTest {
  /** The number of rounds, each with every fault. */
  private static final int ROUNDS = Integer.getInteger("verbena.ratis.faults.rounds", 1);

  private static final int SERVERS = 3;
  private static final int FIRST_HOST = 10;
  private static final int PORT = 7000;
  private static final int PERCENT_LOST = 2;
  private static final String ROCE = "roce://0.0.0.0";

  /**
   * Fewer than a server misses while it is down, and more than are made while a snapshot is sent.
   */
  private static final String WRITES_PER_SNAPSHOT = "1000";

  /** None, so that a server that was down always receives a snapshot. */
  private static final String WRITES_KEPT = "0";

  private static final String HISTORY = "/tmp/history";
  private static final String PREVIOUS_RATIS = "/previous-ratis";

  /** The file with the JVM's class path option, which is read at each start. */
  private static final String CLASS_PATH = "/class-path";

  private static final String STOP = "/stop";

  private final HcaNetwork network = new HcaNetwork("10.77.91.");
  private final String[] addresses =
      IntStream.range(0, SERVERS)
          .mapToObj(i -> "s" + i + '=' + network.address(FIRST_HOST + i) + ':' + PORT)
          .toArray(String[]::new);

  @TempDir private Path folder;

  @Test
  @Timeout(900)
  void noAcknowledgedWriteIsLostAndAnotherLeaderComesAfterEachFault() throws Exception {
    try (network) {
      List<VerbenaContainer> servers =
          IntStream.range(0, SERVERS)
              .mapToObj(
                  i ->
                      network.start(
                          onPreviousRatis(RegisterServer.class)
                              .withArguments(
                                  "s" + i, ROCE, "/raft", WRITES_PER_SNAPSHOT, WRITES_KEPT)
                              .withArguments(addresses)
                              .withReadiness(RegisterServer.READY),
                          FIRST_HOST + i))
              .toList();
      VerbenaContainer client =
          network.start(
              onPreviousRatis(RegisterClient.class)
                  .withArguments(ROCE, HISTORY, STOP)
                  .withArguments(addresses)
                  .withReadiness(RegisterClient.ANSWERED),
              2);
      FaultRun<VerbenaContainer> run =
          new FaultRun<>(
              servers,
              VerbenaContainer::getLogs,
              client::getLogs,
              () -> {
                servers.forEach(VerbenaContainer::printThreads);
                client.printThreads();
              });
      run.awaitAllAnswer("the start");

      for (int round = 0; round < ROUNDS; round++) {
        killAndPause(run);
        partition(run, servers);
        servers.forEach(RatisFaultsTest::upgrade);
        for (VerbenaContainer each : servers) {
          restart(run, each);
        }
      }

      assertThat(servers)
          .extracting(RatisFaultsTest::versions)
          .allSatisfy(
              each -> {
                assertThat(each.get(0)).startsWith(PREVIOUS_RATIS);
                assertThat(each.get(each.size() - 1)).doesNotStartWith(PREVIOUS_RATIS);
              });
      client.copyFileToContainer(Transferable.of("now"), STOP);
      assertThat(client.awaitExit(HcaNetwork.LIMIT)).as(client.getLogs()).isZero();
      Path history = folder.resolve("history");
      client.copyFileFromContainer(HISTORY, history.toString());
      record(run.check(history));
      assertThat(run.installed()).isPositive();
    }
  }

  private static VerbenaContainer onPreviousRatis(Class<?> main) {
    try {
      Stream<String> previous =
          PreviousRatis.jars().stream().map(each -> PREVIOUS_RATIS + '/' + each.getFileName());
      Stream<String> others =
          VerbenaContainer.classPath().entrySet().stream()
              .filter(each -> !PreviousRatis.replaces(each.getKey()))
              .map(Map.Entry::getValue);
      return new VerbenaContainer(main)
          .withJvmArguments('@' + CLASS_PATH)
          .withCopyFileToContainer(MountableFile.forHostPath(PreviousRatis.FOLDER), PREVIOUS_RATIS)
          .withCopyToContainer(classPath(Stream.concat(previous, others)), CLASS_PATH);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes the server's next start use this version of Ratis. */
  private static void upgrade(VerbenaContainer server) {
    server.copyFileToContainer(
        classPath(VerbenaContainer.classPath().values().stream()), CLASS_PATH);
  }

  private static Transferable classPath(Stream<String> entries) {
    return Transferable.of("-cp \"" + entries.collect(Collectors.joining(":")) + "\"\n");
  }

  /** Returns the jar of Ratis for each start of the server. */
  private static List<String> versions(VerbenaContainer server) {
    return server
        .getLogs()
        .lines()
        .filter(each -> each.startsWith(RegisterServer.RATIS))
        .map(each -> each.substring(RegisterServer.RATIS.length()))
        .toList();
  }

  private static void killAndPause(FaultRun<VerbenaContainer> run) throws Exception {
    VerbenaContainer killed = run.leader();
    run.depose("SIGKILL of the leader", killed, killed::kill);
    run.pass("its restart", killed::restart);
    VerbenaContainer paused = run.leader();
    run.depose("SIGSTOP of the leader", paused, paused::pause);
    run.pass("SIGCONT", paused::resume);
  }

  private void partition(FaultRun<VerbenaContainer> run, List<VerbenaContainer> servers)
      throws Exception {
    VerbenaContainer cut = run.leader();
    String address = cut.host();
    run.depose("the leader is off the network", cut, () -> cut.disconnect(network.network()));
    run.pass("and back", () -> cut.connect(network.network(), address));
    VerbenaContainer mute = run.leader();
    run.depose("no packet of the leader arrives", mute, () -> mute.lose(100));
    run.pass("they arrive", () -> mute.lose(0));
    run.pass(
        PERCENT_LOST + " % of all packets are lost",
        () -> servers.forEach(each -> each.lose(PERCENT_LOST)));
    assertThat(servers).allSatisfy(each -> assertThat(each.packetsLost()).isPositive());
    run.pass("none is", () -> servers.forEach(each -> each.lose(0)));
  }

  private static void restart(FaultRun<VerbenaContainer> run, VerbenaContainer server)
      throws Exception {
    if (run.isLeader(server)) {
      run.depose("SIGTERM of the leader", server, () -> HcaNetwork.terminate(server));
      run.pass("its restart", server::restart);
      return;
    }
    run.pass(
        "SIGTERM of a follower, and its restart",
        () -> {
          HcaNetwork.terminate(server);
          server.restart();
        });
  }

  private static void record(List<String> report) throws IOException {
    String file = System.getProperty("verbena.ratis.faults.record");
    if (file != null) {
      Files.write(Path.of(file), report);
    }
  }
}
