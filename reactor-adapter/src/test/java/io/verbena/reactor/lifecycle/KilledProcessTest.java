// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.OtherProcess;
import io.verbena.verbs.CompletionStatus;
import java.net.URI;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import reactor.core.publisher.Mono;

/** Tests an idle connection over {@code roce://} to a process that is killed. */
@Tag("once")
class KilledProcessTest {
  /** The UDP port is chosen by the system, so that no other process has it. */
  private static final URI LOOPBACK = URI.create("roce://127.0.0.1:0?udp-port=0");

  private static RdmaTransport transport() {
    return RdmaTransport.create(OtherProcess.options());
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void isNoticedByAClient() throws Exception {
    RdmaTransport transport = transport();
    try (OtherProcess server = OtherProcess.listening(LOOPBACK)) {
      RdmaConnection connection =
          transport.connect(URI.create(server.line())).blockOptional(Ends.LIMIT).orElseThrow();

      server.kill();

      assertUnreachable(connection);
    } finally {
      // Fails if a queue pair or a memory region is still open.
      transport.dispose();
    }
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void isNoticedByAServer() throws Exception {
    RdmaTransport transport = transport();
    LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();
    RdmaServer server = bind(transport, accepted);
    try (OtherProcess client = OtherProcess.connecting(server.address())) {
      assertThat(client.line()).isEqualTo(OtherProcess.CONNECTED + "roce");
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
}
