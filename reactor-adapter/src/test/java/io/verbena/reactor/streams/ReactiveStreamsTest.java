// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.testng.SkipException;
import org.testng.annotations.Test;

/**
 * Tests the rules of Reactive Streams 1.0.4. The TCK is written for TestNG; here each of its
 * methods runs separately, on connections of its own. Many of them wait for signals that must not
 * come, so they run concurrently.
 */
@Execution(ExecutionMode.CONCURRENT)
class ReactiveStreamsTest {
  @TestFactory
  Stream<DynamicTest> receivedMessages() {
    return tests(ReceiveVerification.class, ReceiveVerification::new);
  }

  @TestFactory
  Stream<DynamicTest> piecesOfARead() {
    return tests(PiecesVerification.class, PiecesVerification::new);
  }

  @TestFactory
  Stream<DynamicTest> immediates() {
    return tests(ImmediatesVerification.class, ImmediatesVerification::new);
  }

  @TestFactory
  Stream<DynamicTest> messagesToSend() {
    return tests(SendVerification.class, SendVerification::new);
  }

  private static <V extends Verification> Stream<DynamicTest> tests(
      Class<V> type, Supplier<V> verification) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.isAnnotationPresent(Test.class))
        .sorted(Comparator.comparing(Method::getName))
        .map(method -> dynamicTest(method.getName(), () -> run(verification, method)));
  }

  private static void run(Supplier<? extends Verification> verification, Method method)
      throws Throwable {
    Verification fresh = verification.get();
    try {
      fresh.begin();
      method.invoke(fresh);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SkipException skipped) {
        abort(skipped.getMessage());
      }
      throw e.getCause();
    } finally {
      fresh.end();
    }
  }
}
