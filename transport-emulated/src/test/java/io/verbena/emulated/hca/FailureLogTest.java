// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FailureLogTest {
  private final List<List<Object>> lines = new ArrayList<>();

  /** Starts shortly before it overflows, as {@link System#nanoTime} may. */
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);

  private final FailureLog log = new FailureLog(logger(), clock::get);

  @Test
  void namesTheThreadAndShowsTheStack() {
    IllegalStateException thrown = new IllegalStateException("a mistake");

    log.failed(thrown);

    String thread = Thread.currentThread().getName();
    assertThat(lines)
        .containsExactly(List.of(Level.ERROR, thread + " goes on after a failure", thrown));
  }

  @Test
  void leavesOutWhatIsTooMuchAndSaysHowMuch() {
    IllegalStateException thrown = new IllegalStateException("again and again");
    for (int i = 0; i < 50; i++) {
      log.failed(thrown);
    }
    assertThat(lines).hasSize(10);

    clock.addAndGet(Duration.ofSeconds(10).toNanos() - 1);
    log.failed(thrown);
    assertThat(lines).hasSize(10);

    clock.addAndGet(1);
    log.failed(thrown);
    log.failed(thrown);
    assertThat(lines).hasSize(12);
    assertThat(lines.get(10).get(1)).asString().endsWith("; 41 before it were not logged");
    assertThat(lines.get(11).get(1)).asString().endsWith("a failure");
  }

  private Logger logger() {
    return (Logger)
        Proxy.newProxyInstance(
            FailureLogTest.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("log");
              lines.add(List.of(arguments));
              return null;
            });
  }
}
