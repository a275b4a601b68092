// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class DirectFabricTest {
  /** Few enough that the compiler does not yet optimize the calls and remove allocations. */
  private static final int CALLS = 1000;

  @Test
  void waitsForCopiesWithoutAllocating() {
    DirectFabric fabric = new DirectFabric();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    threads.setThreadAllocatedMemoryEnabled(true);
    long self = Thread.currentThread().getId();
    fabric.awaitCopies();
    threads.getThreadAllocatedBytes(self);

    long before = threads.getThreadAllocatedBytes(self);
    for (int i = 0; i < CALLS; i++) {
      fabric.awaitCopies();
    }
    assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(CALLS);
  }
}
