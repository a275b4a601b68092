// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.verbs.stat.QueuePairsMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/** A JVM with a reactive connection that exchanges messages, or with none. */
final class EchoProgram implements AutoCloseable {
  private static final String READY = "ready";
  private static final String IDLE = "idle";
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Process process;

  private EchoProgram(Process process) {
    this.process = process;
  }

  static EchoProgram echoing() throws IOException {
    return start(List.of());
  }

  /** Starts a JVM without a queue pair, with options. */
  static EchoProgram idle(String... options) throws IOException {
    return start(List.of(options), IDLE);
  }

  private static EchoProgram start(List<String> options, String... arguments) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.addAll(options);
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), EchoProgram.class.getName()));
    line.addAll(List.of(arguments));
    Process process = new ProcessBuilder(line).redirectError(Redirect.INHERIT).start();
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    if (!READY.equals(out.readLine())) {
      process.destroyForcibly();
      throw new IOException("the other process is not ready; its error is above");
    }
    return new EchoProgram(process);
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** Runs in the other JVM, which ends with its input. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 0) {
      echo();
    }
    System.out.println(READY);
    int end = System.in.read();
    System.exit(end < 0 ? 0 : 1);
  }

  private static void echo() {
    RdmaTransport transport = RdmaTransport.create();
    RdmaServer server =
        transport
            .bind(
                URI.create("emulated://echo"), connection -> connection.send(connection.receive()))
            .blockOptional(LIMIT)
            .orElseThrow();
    RdmaConnection client = transport.connect(server.address()).blockOptional(LIMIT).orElseThrow();
    Sinks.Empty<Void> first = Sinks.empty();
    client
        .receive()
        .subscribe(
            echo -> {
              echo.release();
              first.tryEmitEmpty();
            });
    client
        .send(
            Flux.interval(Duration.ofMillis(1)).onBackpressureDrop().map(i -> Unpooled.copyLong(i)))
        .subscribe();
    first.asMono().block(LIMIT);
    await().atMost(LIMIT).until(() -> System.getProperty(QueuePairsMXBean.PROPERTY) != null);
  }
}
