// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static java.util.Objects.requireNonNull;

import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.MultipleFailuresError;
import org.opentest4j.TestAbortedException;

/**
 * A known deviation of a device from the behavior that a test asserts. The test still runs and must
 * fail with the known message; JUnit then reports it as skipped, with the reason. A test that
 * passes in spite of a deviation that occurs in every run fails, until the deviation is removed.
 *
 * @param failure a part of the failure message, or alternatives separated by " or "
 * @param reason the behavior of the device and the behavior that the specification requires
 * @param always whether the test fails in every run; otherwise it may also pass
 */
public record Deviation(String failure, String reason, boolean always) {
  static final String OR = " or ";

  /**
   * A part of the failure message of a random program whose requester does not repeat requests that
   * the responder has executed.
   */
  public static final String REQUESTER_BEHIND =
      "the requester's PSN is behind the one that the responder expects";

  public Deviation {
    requireNonNull(failure, "failure");
    requireNonNull(reason, "reason");
  }

  /** Creates a deviation that occurs in every run. */
  public Deviation(String failure, String reason) {
    this(failure, reason, /* always= */ true);
  }

  /** Creates a deviation that depends on timing. */
  public static Deviation sometimes(String failure, String reason) {
    return new Deviation(failure, reason, /* always= */ false);
  }

  /**
   * Returns whether a failure, or each failure in a {@link MultipleFailuresError}, has the known
   * message.
   */
  boolean isKnown(Throwable failed) {
    if (failed instanceof MultipleFailuresError several) {
      return several.getFailures().stream().allMatch(this::isKnown);
    }
    String message = String.valueOf(failed.getMessage());
    return Stream.of(failure.split(OR, -1)).anyMatch(message::contains);
  }

  /** Turns the failure of a test with a known deviation into a skipped test. */
  record Interceptor(VerbsTests tests) implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<java.lang.reflect.Method> method,
        ExtensionContext context)
        throws Throwable {
      Deviation known = tests.tck.deviation();
      if (known == null) {
        invocation.proceed();
        tests.tck.observed("as claimed");
        return;
      }
      boolean passed = false;
      try {
        invocation.proceed();
        passed = true;
      } catch (AssertionError | RuntimeException e) {
        if (!known.isKnown(e)) {
          throw e;
        }
      }
      if (passed && known.always) {
        throw new AssertionError("the test passes; remove the deviation: " + known);
      }
      // The same result in both cases: observations of a device must not depend on timing.
      tests.tck.observed((known.always ? "fails: " : "fails at times: ") + known.failure);
      if (passed) {
        return;
      }
      throw new TestAbortedException("known: " + known.reason);
    }
  }
}
