// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** In asynchronous mode, a peer refuses a request before its completion becomes visible. */
class RefusalShownLaterTest {
  private static final int BYTES = 16;

  private final EmulatedDevice device =
      EmulatedDevice.open(new SteppedFabric(), DeviceLimits.FULL, new LocalConnectionManagers());

  /** The asynchronous mode, executed step by step by the test instead of the scheduler's thread. */
  private static final class SteppedFabric extends DirectFabric {
    private final AsyncScheduler scheduler =
        new AsyncScheduler(new SplittableRandom(1), "never-started");

    @Override
    public EmulatedQueuePair createQueuePair(
        EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
      return new DirectQueuePair(this, domain, number, options, scheduler);
    }
  }

  @Test
  void stopsThePeerThatRefusesAndNotItsNextLife() {
    try (device;
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue completions = device.createCompletionQueue(16, null);
        MemoryRegion region =
            domain.register(ByteBuffer.allocateDirect(BYTES), EnumSet.allOf(Access.class))) {
      QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 4, 4);
      try (DirectQueuePair sender = (DirectQueuePair) domain.createQueuePair(options);
          DirectQueuePair receiver = (DirectQueuePair) domain.createQueuePair(options)) {
        Loopback.connect(device, sender, receiver);
        Loopback.connect(device, receiver, sender);
        sender.postSend(
            new SendWorkRequest()
                .write(region.address() + BYTES, region.rkey())
                .signaled()
                .buffer(region.address(), BYTES, region.lkey()));
        DeferredSends sends = sender.sends().deferred();
        SplittableRandom random = new SplittableRandom(1);
        WorkCompletion[] shown = WorkCompletion.array(1);

        assertThat(sends.step(random)).as("refused").isTrue();
        assertThat(completions.poll(shown)).isZero();
        assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);

        receiver.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        Loopback.connect(device, receiver, sender);
        assertThat(sends.step(random)).as("shown").isTrue();

        assertThat(completions.poll(shown)).isEqualTo(1);
        assertThat(shown[0].status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
        assertThat(sender.state()).isEqualTo(QueuePairState.ERR);
        assertThat(receiver.state()).isEqualTo(QueuePairState.RTS);
      }
    }
  }
}
