// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.CompletionStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** An idle connection over {@code roce://} whose other end is in a process that is killed. */
@Tag("once")
class KilledProcessTest {
  /** On a UDP port that no other process has. */
  private static final URI LOOPBACK = URI.create("roce://127.0.0.1:0?udp-port=0");

  private static RdmaTransport transport() {
    RdmaOptions options = Ends.options().keepAlive(Duration.ofMillis(200)).build();
    return RdmaTransport.create(options);
  }

  @Test
  void isNoticedByAClient() throws Exception {
    RdmaTransport transport = transport();
    try (Other server = new Other()) {
      RdmaConnection connection =
          transport.connect(URI.create(server.line())).blockOptional(Ends.LIMIT).orElseThrow();

      server.kill();

      assertUnreachable(connection);
    } finally {
      // Fails if a queue pair or memory is left.
      transport.dispose();
    }
  }

  @Test
  void isNoticedByAServer() throws Exception {
    RdmaTransport transport = transport();
    LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
    RdmaServer server = bind(transport, accepted);
    try (Other client = new Other(server.address().toString())) {
      assertThat(client.line()).isEqualTo(Other.CONNECTED);
      RdmaConnection connection = accepted.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(connection).isNotNull();

      client.kill();

      assertUnreachable(connection);
    } finally {
      transport.dispose();
    }
  }

  private static void assertUnreachable(RdmaConnection connection) {
    assertThatThrownBy(() -> connection.onClose().block(Ends.LIMIT))
        .isInstanceOfSatisfying(
            PeerUnreachableException.class,
            e -> {
              assertThat(e.status()).isEqualTo(CompletionStatus.RETRY_EXC_ERR);
              assertThat(e.peer()).isEqualTo(connection.peer());
            })
        .hasMessageContaining("keep-alive");
  }

  private static RdmaServer bind(
      RdmaTransport transport, LinkedBlockingQueue<RdmaConnection> accepted) {
    return transport
        .bind(
            LOOPBACK,
            connection -> {
              accepted.add(connection);
              return Mono.never();
            })
        .blockOptional(Ends.LIMIT)
        .orElseThrow();
  }

  /** A JVM that listens and says where, or connects and says so; then it does nothing. */
  static final class Other implements AutoCloseable {
    static final String CONNECTED = "connected";

    private final Process process;
    private final BufferedReader out;

    Other(String... arguments) throws IOException {
      List<String> line = new ArrayList<>();
      line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
      line.add("-Dverbena.test.patience=" + Integer.getInteger("verbena.test.patience", 1));
      line.addAll(List.of("-cp", System.getProperty("java.class.path"), Other.class.getName()));
      line.addAll(List.of(arguments));
      process = new ProcessBuilder(line).redirectError(Redirect.INHERIT).start();
      out = process.inputReader(StandardCharsets.UTF_8);
    }

    String line() throws IOException {
      String line = out.readLine();
      if (line == null) {
        throw new IOException("the other process has ended; its error is above");
      }
      return line;
    }

    void kill() {
      process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
      kill();
    }

    /** The other JVM; it ends with its input, if it is not killed before. */
    public static void main(String[] arguments) throws IOException {
      RdmaTransport transport = transport();
      if (arguments.length == 0) {
        System.out.println(bind(transport, new LinkedBlockingQueue<>()).address());
      } else {
        transport.connect(URI.create(arguments[0])).block(Ends.LIMIT);
        System.out.println(CONNECTED);
      }
      int end = System.in.read();
      System.exit(end < 0 ? 0 : 1);
    }
  }
}
