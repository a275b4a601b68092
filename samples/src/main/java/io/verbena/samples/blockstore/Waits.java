// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/** Waits for publishers, on the program's own thread. */
final class Waits {
  private Waits() {}

  /**
   * Waits for the value of {@code mono}.
   *
   * @throws IllegalStateException naming {@code what}, if there is none in time or at all
   */
  static <T> T value(Mono<T> mono, Duration limit, String what) {
    T value = mono.timeout(limit, late(limit, what)).block();
    if (value == null) {
      throw new IllegalStateException(what + ": ended without an answer");
    }
    return value;
  }

  /**
   * Waits for the end of {@code mono}.
   *
   * @throws IllegalStateException naming {@code what}, if it does not end in time
   */
  static void end(Mono<Void> mono, Duration limit, String what) {
    mono.timeout(limit, late(limit, what)).block();
  }

  private static <T> Mono<T> late(Duration limit, String what) {
    return Mono.error(
        () ->
            new IllegalStateException(
                what + ": not done after " + limit.toSeconds() + " s", new TimeoutException()));
  }
}
