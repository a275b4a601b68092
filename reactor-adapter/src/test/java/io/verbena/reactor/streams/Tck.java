// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.verbena.core.testing.Addresses;
import java.time.Duration;
import org.reactivestreams.tck.TestEnvironment;

/** The times that the TCK waits for what must come, and for what must not. */
final class Tck {
  private static final Duration FOR_WHAT_MUST = Duration.ofSeconds(2);
  private static final Duration FOR_WHAT_MUST_NOT = Duration.ofMillis(50);

  private Tck() {}

  static TestEnvironment environment() {
    return new TestEnvironment(
        Addresses.within(FOR_WHAT_MUST).toMillis(), FOR_WHAT_MUST_NOT.toMillis());
  }
}
