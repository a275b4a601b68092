// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.ConnectionClosedException;
import io.verbena.RdmaException;
import io.verbena.verbs.CompletionStatus;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.util.Logger;

class FailureLogTest {
  private final List<List<Object>> warnings = new ArrayList<>();

  /** Starts shortly before the overflow that {@link System#nanoTime} may have. */
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);

  private final FailureLog log = new FailureLog(logger(), clock::get);

  @Test
  void namesOperationPeerAndStatus() {
    log.failed(failure(null));

    assertThat(warnings)
        .containsExactly(List.of("connection with peer-7: it broke [RETRY_EXC_ERR]"));
  }

  @Test
  void showsTheStackOfWhatCodeThrew() {
    IllegalStateException thrown = new IllegalStateException("a handler");
    log.failed(failure(thrown));

    assertThat(warnings)
        .containsExactly(List.of("connection with peer-7: it broke [RETRY_EXC_ERR]", thrown));
  }

  @Test
  void leavesOutWhatIsTooMuchAndSaysHowMuch() {
    for (int i = 0; i < 50; i++) {
      log.failed(failure("peer-" + i, null));
    }
    assertThat(warnings).hasSize(20);

    clock.addAndGet(Duration.ofSeconds(10).toNanos() - 1);
    log.failed(failure(null));
    assertThat(warnings).hasSize(20);

    clock.addAndGet(1);
    log.failed(failure(null));
    log.failed(failure(null));
    assertThat(warnings).hasSize(22);
    assertThat(warnings.get(20).get(0))
        .asString()
        .endsWith("; 31 failures before it were not logged");
    assertThat(warnings.get(21).get(0)).asString().endsWith("[RETRY_EXC_ERR]");
  }

  @Test
  void aHostThatIsNoisyDoesNotSilenceOthers() {
    for (int i = 0; i < 50; i++) {
      log.failed(failure("10.0.0.1:" + (40_000 + i), null));
    }
    assertThat(warnings).hasSize(5);

    log.failed(failure("10.0.0.2:40000", null));

    assertThat(warnings).hasSize(6);
    assertThat(warnings.get(5).get(0))
        .asString()
        .startsWith("connection with 10.0.0.2:40000")
        .endsWith("; 45 failures before it were not logged");
  }

  private static RdmaException failure(@Nullable Throwable cause) {
    return failure("peer-7", cause);
  }

  private static RdmaException failure(String peer, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        "connection", peer, CompletionStatus.RETRY_EXC_ERR, "it broke", cause);
  }

  private Logger logger() {
    return (Logger)
        Proxy.newProxyInstance(
            Logger.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("warn");
              warnings.add(List.of(arguments));
              return null;
            });
  }
}
