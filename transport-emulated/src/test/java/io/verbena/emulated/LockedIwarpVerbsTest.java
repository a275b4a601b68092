// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;

/** Runs the same tests over locked connections, which behave the same. */
@Tag("once")
@ExtendWith(LockedIwarpVerbsTest.Allocating.class)
class LockedIwarpVerbsTest extends IwarpVerbsTest {
  @TempDir static Path folder;
  private static Path key;

  @BeforeAll
  static void makeKey() throws IOException {
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    key = Files.write(folder.resolve("key"), secret);
  }

  /** Skips the tests that encryption cannot pass. */
  static final class Allocating implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      boolean allocating =
          context.getTestClass().map(Class::getSimpleName).filter("Allocation"::equals).isPresent();
      return allocating
          ? ConditionEvaluationResult.disabled("javax.crypto allocates for each record")
          : ConditionEvaluationResult.enabled("");
    }
  }

  @Override
  protected URI address(String name) {
    return URI.create(super.address(name) + "?key-file=" + key);
  }
}
