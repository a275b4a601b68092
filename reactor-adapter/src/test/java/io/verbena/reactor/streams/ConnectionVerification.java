// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import static org.awaitility.Awaitility.await;

import io.verbena.reactor.testing.Ends;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.TestEnvironment.ManualSubscriber;
import org.testng.annotations.Test;

/**
 * Tests a publisher of a connection.
 *
 * @param <T> the type of its elements
 */
abstract class ConnectionVerification<T> extends PublisherVerification<T> implements Verification {
  final Ends ends = Ends.create();

  ConnectionVerification() {
    super(Tck.environment());
  }

  @Override
  public void begin() throws Exception {
    setUp();
  }

  @Override
  public void end() {
    ends.close();
  }

  /**
   * Tests rule 3.13. The TCK's own test gives the JVM 100 ms to enqueue the reference, which is too
   * short on a busy machine.
   */
  @Override
  @Test
  public void
      required_spec313_cancelMustMakeThePublisherEventuallyDropAllReferencesToTheSubscriber()
          throws InterruptedException {
    Publisher<T> publisher = createPublisher(3);
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
    TestEnvironment environment = Tck.environment();
    ManualSubscriber<T> subscriber = environment.newManualSubscriber(publisher);
    subscriber.request(1);
    subscriber.nextElement();
    subscriber.cancel();
    environment.verifyNoAsyncErrorsNoDelay();
    return new WeakReference<>(subscriber);
  }
}
