// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.RoceProvider;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** Tests which thread drives an HCA on UDP sockets, whether or not the program polls. */
class UdpDriverTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Gid NOBODY = UdpGid.of(0x7f7e_7d7c, RocePacket.UDP_PORT);

  @Test
  void goesOnWithRetriesWhenAProgramPolledAndStopped() {
    try (Device device = new RoceProvider().open(URI.create("roce://" + Loopbacks.address(5)));
        CompletionQueue completions = device.createCompletionQueue(16, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        QueuePair pair =
            domain.createQueuePair(QueuePairOptions.reliable(completions, completions, 4, 4))) {
      connectToNobody(device, pair);
      await().atMost(LIMIT).until(UdpDriverTest::driversSleep);

      pair.postSend(new SendWorkRequest(1).id(1).write(0, 0));
      assertThat(completions.poll(WorkCompletion.array(1))).isBetween(0, 1);

      await().atMost(LIMIT).until(() -> pair.state() == QueuePairState.ERR);
    }
  }

  private static void connectToNobody(Device device, QueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.noneOf(Access.class)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(NOBODY))
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(77)
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(12)
            .retryCount(1)
            .rnrRetry(1)
            .sendPsn(1)
            .maxReadAtomic(1));
  }

  private static boolean driversSleep() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey().getName().startsWith("roce_"))
        .allMatch(
            entry ->
                Arrays.stream(entry.getValue())
                    .anyMatch(frame -> frame.getClassName().contains("SelectorImpl")));
  }
}
