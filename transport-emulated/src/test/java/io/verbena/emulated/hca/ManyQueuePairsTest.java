// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the cost of a queue pair on a device with many. */
class ManyQueuePairsTest {
  private static final int MANY = 2_000;
  private static final int SAMPLES = 31;

  /** Less than a copied table, which would have 4 bytes per queue pair. */
  private static final int SLACK = MANY;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @ParameterizedTest
  @ValueSource(strings = {"emulated://many", "emulated://many?wire=simulated"})
  void creatingAndClosingOneAllocatesNoMoreForIt(String address) {
    try (EmulatedDevice device = open(address);
        CompletionQueue completions = device.createCompletionQueue(4, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        SharedReceiveQueue shared = domain.createSharedReceiveQueue(1, 1)) {
      QueuePairOptions options =
          QueuePairOptions.reliable(completions, completions, 1, 1).withSharedReceiveQueue(shared);
      long alone = bytesOfOne(domain, options);
      List<QueuePair> others = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        others.add(domain.createQueuePair(options));
      }
      assertThat(bytesOfOne(domain, options)).isLessThan(alone + SLACK);
      others.forEach(QueuePair::close);
    }
  }

  /** Returns the median, because now and then one creation grows a table. */
  private static long bytesOfOne(ProtectionDomain domain, QueuePairOptions options) {
    long[] bytes = new long[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      domain.createQueuePair(options).close();
      bytes[i] = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
    Arrays.sort(bytes);
    return bytes[SAMPLES / 2];
  }

  @Test
  void eachIsFoundByItsNumberWhileOthersComeAndGo() {
    SplittableRandom random = new SplittableRandom(7);
    try (EmulatedDevice device = open("emulated://many");
        CompletionQueue completions = device.createCompletionQueue(4, null);
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 1, 1);
      List<QueuePair> open = new ArrayList<>();
      for (int i = 0; i < 5 * MANY; i++) {
        if (open.size() < MANY / 10 && random.nextInt(5) > 1) {
          open.add(domain.createQueuePair(options));
        } else if (!open.isEmpty()) {
          QueuePair gone = open.remove(random.nextInt(open.size()));
          gone.close();
          assertThat(device.queuePair(gone.number())).isNull();
        }
        if (!open.isEmpty()) {
          QueuePair any = open.get(random.nextInt(open.size()));
          assertThat(device.queuePair(any.number())).isSameAs(any);
        }
      }
      List<QueuePair> seen = new ArrayList<>();
      device.forEachQueuePair(seen::add);
      assertThat(seen).containsExactlyInAnyOrderElementsOf(open);
      open.forEach(QueuePair::close);
    }
  }

  private static EmulatedDevice open(String address) {
    return (EmulatedDevice) new EmulatedProvider().open(URI.create(address));
  }
}
