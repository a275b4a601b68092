// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests queue pairs that found their shared receive queue empty, and their peers. */
class StarvedQueuePairsTest {
  private static final int PAIRS = 3;
  private static final long LIMIT_SECONDS = 60;

  private final EmulatedDevice device =
      EmulatedDevice.open(new DirectFabric(), DeviceLimits.FULL, new LocalConnectionManagers());
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue sent = device.createCompletionQueue(16, null);
  private final CompletionQueue received = device.createCompletionQueue(16, null);
  private final SharedReceiveQueue shared = domain.createSharedReceiveQueue(16, 1);
  private final List<QueuePair> senders = new ArrayList<>();
  private final List<QueuePair> receivers = new ArrayList<>();
  private final CountDownLatch timerHeld = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);

  @AfterEach
  void close() {
    over.countDown();
    senders.forEach(QueuePair::close);
    receivers.forEach(QueuePair::close);
    shared.close();
    sent.close();
    received.close();
    domain.close();
    device.close();
  }

  /** Blocks the timer that checks periodically for new receives. */
  private void holdTimer() throws InterruptedException {
    device.schedule(
        () -> {
          timerHeld.countDown();
          try {
            over.await(LIMIT_SECONDS, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        0);
    assertThat(timerHeld.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  private void connect() {
    for (int i = 0; i < PAIRS; i++) {
      QueuePair sender = domain.createQueuePair(QueuePairOptions.reliable(sent, sent, 4, 4));
      senders.add(sender);
      QueuePair receiver =
          domain.createQueuePair(
              QueuePairOptions.reliable(sent, received, 4, 4).withSharedReceiveQueue(shared));
      receivers.add(receiver);
      Loopback.connect(device, sender, receiver);
      Loopback.connect(device, receiver, sender);
    }
  }

  private int receiverOfNext() {
    WorkCompletion[] one = {new WorkCompletion()};
    assertThat(received.poll(one)).isOne();
    return one[0].queuePairNumber();
  }

  @Test
  void getReceivesInTheirTurn() throws InterruptedException {
    holdTimer();
    connect();
    List<Integer> order = List.of(2, 0, 1);
    for (int each : order) {
      senders.get(each).postSend(new SendWorkRequest().id(each).send());
    }

    for (int each : order) {
      shared.postReceive(new ReceiveWorkRequest().id(each));

      assertThat(receiverOfNext()).isEqualTo(receivers.get(each).number());
    }
  }

  @Test
  void thatAreClosedLeaveTheirTurnToTheNext() throws InterruptedException {
    holdTimer();
    connect();
    for (QueuePair each : senders) {
      each.postSend(new SendWorkRequest().send());
    }
    receivers.get(0).close();

    shared.postReceive(new ReceiveWorkRequest().id(1));

    assertThat(receiverOfNext()).isEqualTo(receivers.get(1).number());
  }
}
