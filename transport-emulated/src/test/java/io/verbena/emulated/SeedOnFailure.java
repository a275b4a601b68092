// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** Adds the seed to each failure; {@code -Dverbena.test.seed} repeats the run. */
public final class SeedOnFailure implements TestExecutionExceptionHandler {
  public static final long SEED =
      Long.getLong("verbena.test.seed", ThreadLocalRandom.current().nextInt(1_000_000));

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    failure.addSuppressed(new AssertionError("with -Dverbena.test.seed=" + SEED));
    throw failure;
  }
}
