// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests three servers and a client, each in a process of its own, over shared memory. */
@Tag("exhaustive")
@Tag("once")
class RegisterFaultsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final List<String> SERVERS =
      List.of("s0=localhost:7001", "s1=localhost:7002", "s2=localhost:7003");

  /** Fewer than a server misses while it is down, so that no log has all that it missed. */
  private static final String WRITES_PER_SNAPSHOT = "40";

  private static final String WRITES_KEPT = "80";

  @TempDir private Path folder;

  @Test
  @Timeout(300)
  void noAcknowledgedWriteIsLostWhenServersAreKilledAndStopped() throws Exception {
    String hca = "shm://ratis?dir=" + folder.resolve("shm");
    List<ServerProcess> servers = new ArrayList<>();
    try {
      for (String each : SERVERS) {
        String id = each.substring(0, each.indexOf('='));
        servers.add(
            ServerProcess.start(
                Program.java(
                    RegisterServer.class,
                    arguments(
                        id,
                        hca,
                        folder.resolve(id).toString(),
                        WRITES_PER_SNAPSHOT,
                        WRITES_KEPT))));
      }
      for (ServerProcess each : servers) {
        each.awaitReady();
      }
      Path history = folder.resolve("history");
      Path stop = folder.resolve("stop");
      try (Program client =
          Program.start(
              Program.java(
                  RegisterClient.class, arguments(hca, history.toString(), stop.toString())))) {
        client.awaitOutput(RegisterClient.ANSWERED);
        FaultRun<ServerProcess> run =
            new FaultRun<>(
                servers,
                ServerProcess::output,
                () -> ServerProcess.outputOf(client),
                () -> ServerProcess.printThreads(servers, client));
        run.awaitAllAnswer("the start");

        ServerProcess killed = run.leader();
        run.depose("SIGKILL of the leader", killed, killed::kill);
        run.pass("its restart", killed::restart);
        ServerProcess stopped = run.leader();
        run.depose("SIGSTOP of the leader", stopped, () -> stopped.signal("STOP"));
        run.pass("SIGCONT", () -> stopped.signal("CONT"));
        run.pass(
            "SIGKILL of all, and their restart",
            () -> {
              servers.forEach(ServerProcess::kill);
              for (ServerProcess each : servers) {
                each.restart();
              }
            });

        Files.createFile(stop);
        client.succeed(LIMIT);
        run.check(history).forEach(System.out::println);
        assertThat(run.installed()).isPositive();
      }
    } finally {
      for (ServerProcess each : servers) {
        each.close();
      }
    }
  }

  private static String[] arguments(String... first) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(SERVERS);
    return all.toArray(String[]::new);
  }
}
