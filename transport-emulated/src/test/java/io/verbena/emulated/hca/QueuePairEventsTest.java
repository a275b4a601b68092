// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.VerbsProviders;
import java.lang.management.ManagementFactory;
import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class QueuePairEventsTest {
  /** Few enough that the compiler does not yet optimize the calls and remove allocations. */
  private static final int CALLS = 1000;

  @ParameterizedTest
  @EnumSource
  void makesNoEventWhereNoneIsRecorded(Counter counter) {
    URI address = URI.create("emulated://queue-pair-events");
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    threads.setThreadAllocatedMemoryEnabled(true);
    long self = Thread.currentThread().getId();
    try (var device = (EmulatedDevice) VerbsProviders.find(address).open(address)) {
      QueuePairEvents.emit(counter, device, 1, 2);
      threads.getThreadAllocatedBytes(self);

      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < CALLS; i++) {
        QueuePairEvents.emit(counter, device, 1, 2);
      }
      assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(CALLS);
    }
  }
}
