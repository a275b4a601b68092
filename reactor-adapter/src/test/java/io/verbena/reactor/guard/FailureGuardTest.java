// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.reactor.testing.Ends;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;

/** Tests the handling of errors that have no subscriber. */
class FailureGuardTest {

  @Test
  void dropsAnErrorThoughHookAndHandlerThrow() {
    Error error = new NoSuchMethodError("thrown by a test");
    // The hook is added to those of other tests, so it throws only for this error.
    Hooks.onErrorDropped(
        dropped -> {
          if (dropped == error) {
            throw new IllegalStateException("thrown by the hook");
          }
        });
    CompletableFuture<String> end = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                FailureGuard.drop(error);
                end.complete("returned");
              } catch (Throwable thrown) {
                end.completeExceptionally(thrown);
              }
            },
            "failure-guard-test");
    thread.setUncaughtExceptionHandler(
        (where, thrown) -> {
          throw new IllegalStateException("thrown by the handler");
        });

    thread.start();

    assertThat(end).succeedsWithin(Ends.LIMIT).isEqualTo("returned");
  }
}
