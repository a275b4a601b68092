// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a queue pair without outstanding READs and atomics: MAX_QP_RD_ATOMIC is 0. */
class NoReadsOutTest {
  @ParameterizedTest
  @CsvSource({
    "emulated://no-reads,true",
    "emulated://no-reads,false",
    "emulated://no-reads-later?mode=async&seed=1,true",
    "emulated://no-reads-later?mode=async&seed=1,false",
    "emulated://no-reads-packets?wire=simulated,true",
    "emulated://no-reads-packets?wire=simulated,false",
  })
  void failsAReadOrAtomicOfItsOwn(String address, boolean read) {
    try (EmulatedDevice device = (EmulatedDevice) new EmulatedProvider().open(URI.create(address));
        CompletionQueue completions = device.createCompletionQueue(16, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region =
            domain.register(ByteBuffer.allocateDirect(16), EnumSet.allOf(Access.class))) {
      QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 4, 4);
      try (QueuePair sender = domain.createQueuePair(options);
          QueuePair receiver = domain.createQueuePair(options)) {
        Loopback.connect(device, sender, receiver, 0);
        Loopback.connect(device, receiver, sender);
        SendWorkRequest request = new SendWorkRequest();
        if (read) {
          request.read(region.address(), region.rkey());
        } else {
          request.fetchAndAdd(region.address(), region.rkey(), 1);
        }

        sender.postSend(request.signaled().buffer(region.address() + 8, 8, region.lkey()));

        assertThat(next(completions).status()).isEqualTo(CompletionStatus.LOC_QP_OP_ERR);
        assertThat(receiver.state()).isEqualTo(QueuePairState.RTS);
      }
    }
  }

  private static WorkCompletion next(CompletionQueue queue) {
    WorkCompletion[] one = WorkCompletion.array(1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    for (int spins = 0; queue.poll(one) == 0; spins++) {
      assertThat(System.nanoTime()).as("a completion in time").isLessThan(deadline);
      Ownership.pause(spins);
    }
    return one[0];
  }
}
