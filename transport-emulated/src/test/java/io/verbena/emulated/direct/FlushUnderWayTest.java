// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The connection manager has moved a queue pair to the error state, and a message to it is still in
 * flight, so the flush is not complete.
 */
class FlushUnderWayTest {
  private final EmulatedDevice device =
      EmulatedDevice.open(new DirectFabric(), DeviceLimits.FULL, new LocalConnectionManagers());
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue sent = device.createCompletionQueue(16, null);
  private final CompletionQueue received = device.createCompletionQueue(16, null);
  private final SharedReceiveQueue shared = domain.createSharedReceiveQueue(4, 1);
  private final DirectQueuePair sender =
      (DirectQueuePair) domain.createQueuePair(QueuePairOptions.reliable(sent, sent, 4, 4));

  @AfterEach
  void close() {
    sender.close();
    shared.close();
    sent.close();
    received.close();
    domain.close();
    device.close();
  }

  private DirectQueuePair receiver(QueuePairOptions options) {
    DirectQueuePair pair = (DirectQueuePair) domain.createQueuePair(options);
    Loopback.connect(device, sender, pair);
    Loopback.connect(device, pair, sender);
    return pair;
  }

  /** After the change returns, polling finds the completions of all posted receives. */
  private void assertAChangeWaits(DirectQueuePair receiver) throws InterruptedException {
    MessageUnderWay.assertIsWaitedFor(
        sender,
        receiver,
        () -> {
          assertThat(receiver.moveToError()).isTrue();
          receiver.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        });
  }

  @Test
  void aChangeToTheSameStateWaitsForIt() throws InterruptedException {
    DirectQueuePair receiver = receiver(QueuePairOptions.reliable(sent, received, 4, 4));
    receiver.postReceive(new ReceiveWorkRequest().id(1));

    assertAChangeWaits(receiver);

    assertThat(received.poll(WorkCompletion.array(1))).isEqualTo(1);
    receiver.close();
  }

  @Test
  void likewiseWithASharedReceiveQueue() throws InterruptedException {
    DirectQueuePair receiver =
        receiver(QueuePairOptions.reliable(sent, received, 4, 0).withSharedReceiveQueue(shared));
    shared.postReceive(new ReceiveWorkRequest().id(1));

    assertAChangeWaits(receiver);

    receiver.close();
  }
}
