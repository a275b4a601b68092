// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.end.ToolFailure;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MismatchTest {
  private static final URI HCA = URI.create("emulated://mismatch");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static CompletableFuture<Throwable> failureOf(PingServer server) {
    CompletableFuture<Throwable> failed = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                server.serve(null);
                failed.complete(null);
              } catch (Throwable e) {
                failed.complete(e);
              }
              server.close();
            },
            "server");
    thread.setDaemon(true);
    thread.start();
    return failed;
  }

  @Test
  void theServerFailsForAPingThatIsLargerThanItTakes() throws Exception {
    PingServer server = new PingServer(HCA, new PingOptions(64, 0, true, LIMIT));
    URI address = server.address();
    CompletableFuture<Throwable> failed = failureOf(server);

    assertThatThrownBy(() -> PingClient.ping(address, new PingOptions(65, 1, true, LIMIT), null))
        .isInstanceOf(ToolFailure.class);

    assertThat(failed.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
        .hasMessage("the client pings with 65 bytes (expected: at most 64)");
  }

  @Test
  void everyPingDiffersFromTheOneBefore() {
    assertThat(RpingText.of(0, 40)).isNotEqualTo(RpingText.of(1, 40));
    assertThat(new String(RpingText.of(57, 26), java.nio.charset.StandardCharsets.US_ASCII))
        .isEqualTo("rdma-ping-57: zABCDEFGHIJ\0");
  }
}
