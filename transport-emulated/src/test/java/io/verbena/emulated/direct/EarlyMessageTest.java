// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A message reaches a queue pair that has just gone to RTR and has not looked up its peer yet. A
 * thread that flushes its receives or closes its completion queue still waits for the sender. The
 * test stands in for the sender and owns the send queue.
 */
class EarlyMessageTest {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A fabric that can block one thread while it looks up a peer. */
  private static final class HoldingFabric extends DirectFabric {
    final CountDownLatch looking = new CountDownLatch(1);
    final CountDownLatch letGo = new CountDownLatch(1);
    volatile @Nullable Thread held;

    @Override
    @Nullable EmulatedDevice device(Gid gid) {
      if (Thread.currentThread() == held) {
        looking.countDown();
        try {
          assertThat(letGo.await(DEADLINE_NANOS, TimeUnit.NANOSECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return super.device(gid);
    }
  }

  private final HoldingFabric fabric = new HoldingFabric();
  private final EmulatedDevice device =
      EmulatedDevice.open(fabric, DeviceLimits.FULL, new LocalConnectionManagers());
  private final EmulatedProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue others = device.createCompletionQueue(16, null);
  private final CompletionQueue receives = device.createCompletionQueue(16, null);
  private final DirectQueuePair sender = pair(others);
  private final DirectQueuePair receiver = pair(receives);
  private final Thread connecting =
      new Thread(() -> Loopback.toReadyToReceive(device, receiver, sender), "connecting");

  private DirectQueuePair pair(CompletionQueue received) {
    return (DirectQueuePair)
        domain.createQueuePair(QueuePairOptions.reliable(others, received, 4, 4));
  }

  @BeforeEach
  void goesToReadyToReceive() throws InterruptedException {
    Loopback.connect(device, sender, receiver);
    fabric.held = connecting;
    connecting.start();
    assertThat(fabric.looking.await(DEADLINE_NANOS, TimeUnit.NANOSECONDS)).isTrue();
  }

  @AfterEach
  void close() throws InterruptedException {
    fabric.letGo.countDown();
    connecting.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
    sender.close();
    receiver.close();
    others.close();
    receives.close();
    domain.close();
    device.close();
  }

  @Test
  void takesItsReceiveBeforeAFailureFlushesIt() throws InterruptedException {
    receiver.postReceive(new ReceiveWorkRequest().id(1));

    MessageUnderWay.assertIsWaitedFor(sender, receiver, receiver::fail);

    assertThat(receives.poll(WorkCompletion.array(1))).isEqualTo(1);
  }

  @Test
  void completesBeforeAnotherQueuePairDoesSoInTheSameQueue() throws InterruptedException {
    MessageUnderWay.assertIsWaitedFor(sender, receiver, () -> pair(receives).close());
  }
}
