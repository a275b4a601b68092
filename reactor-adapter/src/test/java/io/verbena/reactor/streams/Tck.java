// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import static org.awaitility.Awaitility.await;

import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.TestEnvironment.ManualSubscriber;

/** The times that the TCK waits for what must come, and for what must not. */
final class Tck {
  private static final Duration FOR_WHAT_MUST = Duration.ofSeconds(2);
  private static final Duration FOR_WHAT_MUST_NOT = Duration.ofMillis(50);

  private Tck() {}

  static TestEnvironment environment() {
    return new TestEnvironment(
        Addresses.within(FOR_WHAT_MUST).toMillis(), FOR_WHAT_MUST_NOT.toMillis());
  }

  /**
   * Tests rule 3.13. The TCK's own test gives the JVM 100 ms to enqueue the reference, which it
   * exceeds on a busy machine.
   */
  static void assertDropsCancelled(Publisher<?> publisher) throws InterruptedException {
    WeakReference<?> subscriber = cancelled(publisher);
    try {
      await("the cancelled subscriber is garbage")
          .atMost(Ends.LIMIT)
          .until(
              () -> {
                System.gc();
                return subscriber.refersTo(null);
              });
    } finally {
      Reference.reachabilityFence(publisher);
    }
  }

  private static <T> WeakReference<ManualSubscriber<T>> cancelled(Publisher<T> publisher)
      throws InterruptedException {
    TestEnvironment environment = environment();
    ManualSubscriber<T> subscriber = environment.newManualSubscriber(publisher);
    subscriber.request(1);
    subscriber.nextElement();
    subscriber.cancel();
    environment.verifyNoAsyncErrorsNoDelay();
    return new WeakReference<>(subscriber);
  }
}
