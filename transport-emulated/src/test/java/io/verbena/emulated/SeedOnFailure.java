// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** Says with each failure which seed it was, to be given again as {@code verbena.test.seed}. */
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
