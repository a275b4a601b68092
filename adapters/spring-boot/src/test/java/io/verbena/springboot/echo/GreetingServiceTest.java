// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.echo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the sample service, started as its README says, in two processes. */
@Tag("once")
class GreetingServiceTest {
  private static final Path SAMPLE = Path.of("..", "..", "samples", "spring-boot", "src", "main");
  private static final Pattern SERVES = Pattern.compile("Netty started on port (\\d+)");
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir private Path classes = Path.of("");

  @Test
  void hasAnotherOfItsKindGreetOverRdma() throws Exception {
    compile();
    String hca = "--verbena.hca=shm://greetings" + ProcessHandle.current().pid();
    Process first = start(hca);
    Process second = null;
    try {
      second =
          start(
              hca,
              "--other=http://localhost:" + port(first),
              // On a busy machine the first connect loads classes for longer than the default
              // timeout.
              "--verbena.rdma-timeout=" + LIMIT.toSeconds() + "s",
              "--management.endpoints.web.exposure.include=metrics");
      String at = "http://localhost:" + port(second);

      assertThat(get(at + "/ask/you")).isEqualTo("hello, you");

      assertThat(get(at + "/actuator/metrics/verbena.connections.chosen?tag=medium:shm"))
          .contains("\"value\":1.0");
    } finally {
      first.destroyForcibly().onExit().join();
      if (second != null) {
        second.destroyForcibly().onExit().join();
      }
    }
  }

  private void compile() {
    StringWriter told = new StringWriter();
    PrintWriter to = new PrintWriter(told);
    Path source = SAMPLE.resolve(Path.of("java", "com", "example", "GreetingService.java"));
    int result =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                to,
                to,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(result).as(told.toString()).isZero();
  }

  private Process start(String... options) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.add("-cp");
    line.add(
        String.join(
            File.pathSeparator,
            classes.toString(),
            SAMPLE.resolve("resources").toString(),
            System.getProperty("java.class.path")));
    line.addAll(List.of("com.example.GreetingService", "--server.port=0"));
    line.add("--spring.grpc.server.port=0");
    line.addAll(Arrays.asList(options));
    return new ProcessBuilder(line).redirectError(Redirect.INHERIT).start();
  }

  private static int port(Process service) throws Exception {
    // If the process is closed at the limit, the read of its log ends, too.
    return CompletableFuture.supplyAsync(() -> readPort(service))
        .get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /** Waits until the service logs its port, and reads the rest of the log in the background. */
  private static int readPort(Process service) {
    try {
      return findPort(service);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int findPort(Process service) throws IOException {
    BufferedReader log = service.inputReader(StandardCharsets.UTF_8);
    StringBuilder said = new StringBuilder();
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      said.append(line).append('\n');
      Matcher serves = SERVES.matcher(line);
      if (serves.find()) {
        drain(log);
        return Integer.parseInt(serves.group(1));
      }
    }
    throw new AssertionError("the service has ended: " + said);
  }

  private static void drain(BufferedReader log) {
    Thread drain = new Thread(() -> log.lines().forEach(line -> {}), "log");
    drain.setDaemon(true);
    drain.start();
  }

  private static String get(String address) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(address)).timeout(LIMIT).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }
}
