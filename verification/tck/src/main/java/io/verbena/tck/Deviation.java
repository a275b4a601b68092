package io.verbena.tck;

import static java.util.Objects.requireNonNull;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Where a device is known not to do what a test claims. The test is run all the same: it must fail,
 * and just as it is known to; it is then reported as skipped with the reason. If it passes, the
 * device has been mended, and the test fails until the deviation is taken out.
 *
 * @param failure what the failure's message contains
 * @param reason what the device does instead, and what the specification says
 * @param always whether the test fails each time; if not, it may also pass
 */
public record Deviation(String failure, String reason, boolean always) {
  public Deviation {
    requireNonNull(failure, "failure");
    requireNonNull(reason, "reason");
  }

  /** One that is seen each time. */
  public Deviation(String failure, String reason) {
    this(failure, reason, /* always= */ true);
  }

  /** One that depends on what happens first. */
  public static Deviation sometimes(String failure, String reason) {
    return new Deviation(failure, reason, /* always= */ false);
  }

  /** Turns the failure of a test that is known to deviate into a skipped test. */
  record Watch(VerbsTests tests) implements InvocationInterceptor {
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
      String message;
      try {
        invocation.proceed();
        message = null;
      } catch (AssertionError | RuntimeException e) {
        message = String.valueOf(e.getMessage());
        if (!message.contains(known.failure)) {
          throw e;
        }
      }
      if (message == null && !known.always) {
        tests.tck.observed("as claimed");
        return;
      }
      if (message == null) {
        throw new AssertionError("the device does now as the test claims; take out: " + known);
      }
      tests.tck.observed("fails: " + known.failure);
      throw new TestAbortedException("known: " + known.reason);
    }
  }
}
