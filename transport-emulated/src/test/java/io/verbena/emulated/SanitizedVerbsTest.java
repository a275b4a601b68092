// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.junit.jupiter.api.extension.ConditionEvaluationResult.disabled;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.enabled;

import io.verbena.emulated.sanitizer.Findings;
import io.verbena.tck.VerbsTck;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A sanitized device behaves like the bare one. Many of these tests contain errors on purpose, so
 * their findings are ignored.
 */
@ExtendWith(SanitizedVerbsTest.MayAllocate.class)
class SanitizedVerbsTest extends VerbsTck {
  private static Findings.@Nullable Listening listening;

  @BeforeAll
  static void letsFindingsPass() {
    listening = Findings.listen(finding -> {});
  }

  @AfterAll
  static void listensNoMore() {
    if (listening != null) {
      listening.close();
    }
  }

  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name + "?sanitize=true");
  }

  /** The sanitizer walks the stack for each request. */
  @Override
  protected Duration timeout() {
    return super.timeout().multipliedBy(4);
  }

  /** Skips the allocation tests, because the sanitizer stores where each request was posted. */
  static final class MayAllocate implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return context
              .getTestClass()
              .map(Class::getSimpleName)
              .filter("Allocation"::equals)
              .isPresent()
          ? disabled("the sanitizer allocates")
          : enabled("what allocates nothing without the sanitizer");
    }
  }
}
