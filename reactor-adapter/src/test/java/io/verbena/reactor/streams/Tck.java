// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.time.Duration;
import org.reactivestreams.tck.TestEnvironment;

/** The times that the TCK waits for signals that must come, and for signals that must not. */
final class Tck {
  /** The TCK sleeps this long where an error must come, and then checks once. */
  private static final Duration FOR_ERRORS = Duration.ofSeconds(2);

  private static final Duration FOR_WHAT_MUST_NOT = Duration.ofMillis(50);

  private Tck() {}

  static TestEnvironment environment() {
    return new TestEnvironment(
        Ends.LIMIT.toMillis(),
        FOR_WHAT_MUST_NOT.toMillis(),
        Addresses.within(FOR_ERRORS).toMillis());
  }
}
