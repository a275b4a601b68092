// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.testcontainers.DockerClientFactory;

/**
 * A daemon of a JVM's own, and what is left of it after that JVM. By itself: others' containers
 * have network interfaces, too.
 */
@InContainers
@Isolated
@Tag("exhaustive")
@Tag("once")
class OwnDockerTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Keeps a container running, prints where its daemon's files are, and waits. */
  public static final class User {
    private User() {}

    /** Runs it. */
    public static void main(String[] args) throws InterruptedException {
      String socket = DockerClientFactory.instance().getTransportConfig().getDockerHost().getPath();
      try (VerbenaContainer container =
          new VerbenaContainer(VerbenaContainerTest.Speaker.class)
              .withArguments("here", "-1")
              .withReadiness("here")) {
        container.start();
        System.out.println("daemon at " + socket);
        new CountDownLatch(1).await();
      }
    }
  }

  @Test
  void nothingIsLeftWhenItsJvmIsKilledWithAContainerRunning() throws Exception {
    String network = Program.run("ip", "-o", "link");
    try (Program user = Program.start(Program.java(User.class))) {
      user.awaitOutput("daemon at ");
      Path socket = Path.of(user.output().replaceAll("(?s).*daemon at (\\S+).*", "$1"));
      String name = socket.getParent().getFileName().toString();
      assumeThat(name).startsWith("verbena-docker.");
      assertThat(processesOf(name)).isNotEmpty();
      assertThat(controlGroupsOf(name)).isNotEmpty();
      user.kill();
      await().atMost(LIMIT).until(() -> Files.notExists(socket.getParent()));
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                assertThat(processesOf(name)).isEmpty();
                assertThat(controlGroupsOf(name)).isEmpty();
              });
      assertThat(Files.readString(Path.of("/proc/self/mountinfo"))).doesNotContain(name);
      assertThat(Program.run("ip", "-o", "link")).isEqualTo(network);
    }
  }

  private static List<String> processesOf(String daemon) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.filter(process -> Character.isDigit(process.getFileName().toString().charAt(0)))
          .map(process -> commandLine(process).replace('\0', ' '))
          .filter(line -> line.contains(daemon))
          .toList();
    }
  }

  private static String commandLine(Path process) {
    try {
      return Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      // It ended in the meantime.
      return "";
    }
  }

  private static List<Path> controlGroupsOf(String daemon) throws IOException {
    Predicate<Path> ofDaemon = path -> path.getFileName().toString().equals(daemon);
    try (Stream<Path> all = Files.walk(Path.of("/sys/fs/cgroup"), 3)) {
      return all.filter(ofDaemon).toList();
    } catch (UncheckedIOException e) {
      throw new AssertionError("control groups come and go while they are walked", e);
    }
  }
}
