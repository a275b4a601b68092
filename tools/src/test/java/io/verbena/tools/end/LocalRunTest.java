// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LocalRunTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void tellsWhyTheServerFailedWithWhatTheClientSawOfIt() {
    CompletableFuture<Thread> server = new CompletableFuture<>();

    assertThatExceptionOfType(ToolFailure.class)
        .isThrownBy(
            () ->
                LocalRun.run(
                    () -> {
                      server.complete(Thread.currentThread());
                      throw new ToolFailure("address in use", "");
                    },
                    () -> {
                      TimeUnit.SECONDS.timedJoin(server.join(), LIMIT.toSeconds());
                      throw new ToolFailure("no answer within 5 s", "try again");
                    },
                    LIMIT))
        .withMessage("no answer within 5 s; the server failed: address in use")
        .satisfies(e -> assertThat(e.advice()).isEqualTo("try again"));
  }

  @Test
  void tellsWhatTheClientSawWhereTheServerIsWell() {
    CountDownLatch end = new CountDownLatch(1);
    try {
      assertThatExceptionOfType(ToolFailure.class)
          .isThrownBy(
              () ->
                  LocalRun.run(
                      end::await,
                      () -> {
                        throw new ToolFailure("wrong answer", "");
                      },
                      LIMIT))
          .withMessage("wrong answer");
    } finally {
      end.countDown();
    }
  }
}
