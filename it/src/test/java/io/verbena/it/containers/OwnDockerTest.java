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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.testcontainers.DockerClientFactory;

/**
 * Tests a Docker daemon of a JVM's own, and that nothing of it outlives the JVM. Runs alone, as
 * containers of other tests have network interfaces, too.
 */
@InContainers
@Isolated
@Tag("exhaustive")
@Tag("once")
class OwnDockerTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** A daemon, a JDK image and a container may each take the time of their own limit. */
  private static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final String DAEMON = "daemon at ";
  private static final String RUNNING = "container is running";

  /**
   * Prints where its daemon's files are. If the daemon is its own, starts a container and waits.
   */
  public static final class User {
    private User() {}

    /** Runs the program. */
    public static void main(String[] args) throws InterruptedException {
      String socket = DockerClientFactory.instance().getTransportConfig().getDockerHost().getPath();
      System.out.println(DAEMON + socket);
      if (!isOwn(Path.of(socket))) {
        return;
      }
      try (VerbenaContainer container =
          new VerbenaContainer(VerbenaContainerTest.Speaker.class)
              .withArguments("here", "-1")
              .withReadiness("here")) {
        container.start();
        System.out.println(RUNNING);
        new CountDownLatch(1).await();
      }
    }
  }

  private static boolean isOwn(Path socket) {
    return folder(socket).startsWith("verbena-docker.");
  }

  private static String folder(Path socket) {
    return socket.getParent().getFileName().toString();
  }

  @Test
  @Timeout(600)
  void nothingIsLeftWhenItsJvmIsKilledWithAContainerRunning() throws Exception {
    List<String> network = networkOfDocker();
    try (Program user = Program.start(Program.java(User.class))) {
      user.awaitOutput(DAEMON, START_LIMIT);
      Path socket = Path.of(user.output().replaceAll("(?s).*" + DAEMON + "(\\S+).*", "$1"));
      assumeThat(socket).matches(OwnDockerTest::isOwn);
      user.awaitOutput(RUNNING, START_LIMIT);
      String name = folder(socket);
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
      assertThat(networkOfDocker()).isEqualTo(network);
    }
  }

  /** Returns the network interfaces that a Docker daemon may have created here. */
  private static List<String> networkOfDocker() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/sys/class/net"))) {
      return all.map(each -> each.getFileName().toString())
          .filter(each -> each.matches("(veth|docker|br-).*"))
          .sorted()
          .toList();
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
      // The process ended in the meantime.
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
