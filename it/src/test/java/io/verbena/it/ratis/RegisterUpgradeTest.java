// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests three servers that are upgraded from the previous version of Ratis to this one, the leader
 * last, while a client of the previous version calls them. All use the same adapter, over shared
 * memory.
 */
@Tag("exhaustive")
@Tag("once")
class RegisterUpgradeTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final List<String> SERVERS =
      List.of("s0=localhost:7011", "s1=localhost:7012", "s2=localhost:7013");

  @TempDir private Path folder;

  @Test
  @Timeout(300)
  void noAcknowledgedWriteIsLostWhileEachServerGetsAnotherVersion() throws Exception {
    String before = previousClassPath();
    List<ServerProcess> servers = new ArrayList<>();
    try {
      for (String each : SERVERS) {
        servers.add(ServerProcess.start(server(before, id(each))));
      }
      for (ServerProcess each : servers) {
        each.awaitReady();
        assertThat(each.output())
            .contains(RegisterServer.RATIS + PreviousRatis.FOLDER + "/ratis-server-api-");
      }
      Path history = folder.resolve("history");
      Path stop = folder.resolve("stop");
      try (Program client =
          Program.start(
              java(before, RegisterClient.class, hca(), history.toString(), stop.toString()))) {
        client.awaitOutput(RegisterClient.ANSWERED);
        FaultRun<ServerProcess> run =
            new FaultRun<>(
                servers,
                ServerProcess::output,
                () -> ServerProcess.outputOf(client),
                () -> ServerProcess.printThreads(servers, client));
        run.awaitAllAnswer("the start");
        ServerProcess leader = run.leader();

        for (ServerProcess each : servers) {
          if (each != leader) {
            upgrade(run, each, id(SERVERS.get(servers.indexOf(each))));
          }
        }
        upgrade(run, leader, id(SERVERS.get(servers.indexOf(leader))));

        assertThat(servers)
            .allSatisfy(
                each ->
                    assertThat(each.output())
                        .contains(RegisterServer.RATIS)
                        .doesNotContain(PreviousRatis.FOLDER.toString()));
        Files.createFile(stop);
        client.succeed(LIMIT);
        run.check(history).forEach(System.out::println);
      }
    } finally {
      for (ServerProcess each : servers) {
        each.close();
      }
    }
  }

  private void upgrade(FaultRun<ServerProcess> run, ServerProcess server, String id)
      throws Exception {
    List<String> now = server(System.getProperty("java.class.path"), id);
    if (run.isLeader(server)) {
      run.depose("SIGTERM of the leader, " + id, server, server::terminate);
      run.pass("its start with another version", () -> server.restart(now));
      return;
    }
    run.pass(
        "SIGTERM of a follower, " + id + ", and its start with another version",
        () -> {
          server.terminate();
          server.restart(now);
        });
  }

  private List<String> server(String classPath, String id) {
    return java(
        classPath, RegisterServer.class, id, hca(), folder.resolve(id).toString(), "40", "80");
  }

  private static List<String> java(String classPath, Class<?> main, String... first) {
    return Program.java(
        List.of(),
        classPath,
        main,
        Stream.concat(Stream.of(first), SERVERS.stream()).toArray(String[]::new));
  }

  private String hca() {
    return "shm://ratis-upgrade?dir=" + folder.resolve("shm");
  }

  private static String id(String server) {
    return server.substring(0, server.indexOf('='));
  }

  /** Returns this class path with the jars of the previous Ratis instead of those of this one. */
  private static String previousClassPath() throws IOException {
    List<String> now = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
    List<String> others =
        now.stream().filter(each -> !PreviousRatis.replaces(Path.of(each))).toList();
    assertThat(others).as("class path without Ratis").hasSizeLessThan(now.size());
    return Stream.concat(PreviousRatis.jars().stream().map(Path::toString), others.stream())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
