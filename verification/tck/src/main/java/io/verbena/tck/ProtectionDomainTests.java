// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectFailure;
import static io.verbena.verbs.VerbsError.BUSY;
import static io.verbena.verbs.VerbsError.CLOSED;
import static io.verbena.verbs.VerbsError.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Creating and closing protection domains. Other areas test the protection itself. */
abstract class ProtectionDomainTests extends VerbsTests {
  ProtectionDomainTests(VerbsTck provider) {
    super(provider);
  }

  @Test
  void knowsItsDevice() {
    assertThat(tck.domain().device()).isSameAs(tck.device());
  }

  @Test
  void existsAsOftenAsTheDeviceSays() {
    int most = tck.attributes().maxProtectionDomains();
    int affordable = Math.min(most, 1 << 16);
    for (int i = 0; i < affordable; i++) {
      tck.domain();
    }

    if (affordable == most) {
      expectFailure(NO_MEMORY, tck::domain);
    }
  }

  @Test
  void isBusyWhileItHoldsAMemoryRegion() {
    ProtectionDomain domain = tck.domain();
    TestMemory memory = tck.memory(domain, 64, Set.of());

    expectFailure(BUSY, domain::close);

    memory.region().close();
    domain.close();
  }

  @Test
  void isBusyWhileItHoldsAQueuePair() {
    Endpoint end = tck.setup().endpoint();

    expectFailure(BUSY, end.domain()::close);

    end.queuePair().close();
    end.domain().close();
  }

  @Test
  void isStillUsableAfterACloseThatFailed() {
    ProtectionDomain domain = tck.domain();
    tck.memory(domain, 64, Set.of());
    expectFailure(BUSY, domain::close);

    assertThat(tck.memory(domain, 64, Set.of()).region().length()).isEqualTo(64);
  }

  @Test
  void mayBeClosedTwice() {
    ProtectionDomain domain = tck.domain();

    domain.close();
    domain.close();
  }

  @Test
  void makesNothingOnceItIsClosed() {
    CompletionQueue queue = tck.own(tck.device().createCompletionQueue(4, null));
    ProtectionDomain domain = tck.domain();
    domain.close();

    expectFailure(CLOSED, () -> domain.register(TestMemory.allocate(64), Set.of()));
    expectFailure(
        CLOSED, () -> domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1)));
  }
}
