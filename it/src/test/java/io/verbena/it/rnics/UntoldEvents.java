// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.core.device.AsyncEvents;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Tests asynchronous events that cannot be read at once. Runs in a JVM of {@link
 * AsyncEventFaultsTest}.
 */
class UntoldEvents {
  private static final URI DEVICE = URI.create("disni://10.0.20.1:0");
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void areToldOnceTheyCanBeTaken() throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    try (Device device = VerbsProviders.find(DEVICE).open(DEVICE);
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue completions = device.createCompletionQueue(8, null);
        SharedReceiveQueue receives = domain.createSharedReceiveQueue(4, 1);
        QueuePair pair =
            domain.createQueuePair(
                QueuePairOptions.reliable(completions, completions, 4, 4)
                    .withSharedReceiveQueue(receives))) {
      AsyncEvents events = new AsyncEvents("test-events", device, null);
      events.listenForFailure(pair, failed::countDown);
      events.start();
      // The driver fails with ENOMEM, EIO and EINVAL while the event of the port is pending.
      RemovedDevice.play("fail ibv_get_async_event 12");
      RemovedDevice.play("fail ibv_get_async_event 5");
      RemovedDevice.play("fail ibv_get_async_event 22");
      RemovedDevice.play("down mlx5_20 1");
      Awaitility.await().atMost(LIMIT).until(() -> !device.port().active());

      pair.modify(
          new QueuePairAttributes()
              .state(QueuePairState.INIT)
              .pkeyIndex(0)
              .port(device.port().number())
              .access(Set.of()));
      pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));

      assertThat(failed.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      events.close();
    }
  }
}
