package io.verbena.tck;

import io.verbena.verbs.Capability;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * For an area that is about something which a device may lack: without it, each test only asserts
 * that it is refused.
 *
 * @param tests the area
 * @param capability what it is about
 * @param refusal asserts the refusal
 */
record RequiresSupport(VerbsTests tests, Capability capability, Runnable refusal)
    implements InvocationInterceptor {
  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<java.lang.reflect.Method> method,
      ExtensionContext context)
      throws Throwable {
    if (tests.tck.supports(capability)) {
      invocation.proceed();
    } else {
      invocation.skip();
      refusal.run();
    }
  }
}
