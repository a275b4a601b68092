// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A completion queue that overruns repeatedly raises only one event until it is polled. */
class OverrunTest {
  private static final int RECEIVES = 64;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "emulated://overrun",
        "emulated://overrun?mode=async&seed=1",
        "emulated://overrun?wire=simulated"
      })
  void raisesOneEventForAllCompletionsThatAreLostUntilSomebodyPolls(String address)
      throws InterruptedException {
    WorkCompletion[] some = WorkCompletion.array(16);
    try (Device device = new EmulatedProvider().open(URI.create(address));
        CompletionQueue queue = device.createCompletionQueue(1, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair pair =
            domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, RECEIVES))) {
      flush(pair);
      assertThat(events(device)).containsExactly(AsyncEvent.Type.CQ_ERR);
      assertThat(queue.poll(some)).isEqualTo(1);

      pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
      flush(pair);

      assertThat(events(device)).containsExactly(AsyncEvent.Type.CQ_ERR);
    }
  }

  private static void flush(QueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.noneOf(Access.class)));
    for (int i = 0; i < RECEIVES; i++) {
      pair.postReceive(new ReceiveWorkRequest(1).id(i));
    }
    pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
  }

  private static List<AsyncEvent.Type> events(Device device) throws InterruptedException {
    List<AsyncEvent.Type> types = new ArrayList<>();
    AsyncEvent event = device.awaitAsyncEvent(TimeUnit.SECONDS.toNanos(20));
    while (event != null) {
      types.add(event.type());
      event = device.awaitAsyncEvent(TimeUnit.MILLISECONDS.toNanos(50));
    }
    return types;
  }
}
