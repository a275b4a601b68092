// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePairType;
import java.lang.reflect.Method;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Replaces each test of an area by a check of the error, if the device lacks the feature that the
 * area tests.
 *
 * @param supported whether the device has the feature
 * @param assertRefused asserts that the device refuses the feature
 */
record RequiresSupport(BooleanSupplier supported, Runnable assertRefused)
    implements InvocationInterceptor {
  /** Requires a capability for all tests of an area. */
  static RequiresSupport of(VerbsTests tests, Capability capability, Runnable assertRefused) {
    return new RequiresSupport(() -> tests.tck.supports(capability), assertRefused);
  }

  /** Requires queue pairs of a type for all tests of an area. */
  static RequiresSupport of(VerbsTests tests, QueuePairType type) {
    return of(tests, type, () -> {});
  }

  /**
   * Requires queue pairs of a type for all tests of an area, with a further check of a device that
   * lacks them.
   */
  static RequiresSupport of(VerbsTests tests, QueuePairType type, Runnable assertRefused) {
    return new RequiresSupport(
        () -> tests.supports(type),
        () -> {
          tests.assertRefused(type);
          assertRefused.run();
        });
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    if (supported.getAsBoolean()) {
      invocation.proceed();
    } else {
      invocation.skip();
      assertRefused.run();
    }
  }
}
