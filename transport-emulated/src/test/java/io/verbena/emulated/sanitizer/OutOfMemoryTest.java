// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.sanitizer.Finding.Kind;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A program runs on if the JVM lacks memory for shadow copies, and gets a finding. */
class OutOfMemoryTest {
  private static final int LENGTH = 64;

  @Test
  void leavesTheProgramAloneAndSaysThatItIsNotWatched() {
    FindingCollector collector = FindingCollector.start();
    List<Finding> findings;
    ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
    try {
      sendToItself(memory);
    } finally {
      findings = collector.finish();
    }

    assertThat(memory.getLong(LENGTH / 2)).isEqualTo(7);
    assertThat(findings).extracting(Finding::kind).containsOnly(Kind.NOT_WATCHED);
    assertThat(findings.get(0).message()).contains("RECV 1").contains(LENGTH + " bytes");
  }

  /** Sends the first half to the second by a queue pair that is connected to itself. */
  private static void sendToItself(ByteBuffer memory) {
    try (Device device =
            new SanitizedDevice(
                new EmulatedProvider().open(URI.create("emulated://out-of-memory")),
                false,
                CallSite.here(),
                length -> {
                  throw new OutOfMemoryError("Cannot reserve " + length + " bytes");
                });
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(memory, Set.of(Access.LOCAL_WRITE));
        CompletionQueue queue = device.createCompletionQueue(4, null);
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 2, 2))) {
      connect(device, pair);
      memory.putLong(0, 7);
      pair.postReceive(
          new ReceiveWorkRequest()
              .id(1)
              .buffer(region.address() + LENGTH / 2, LENGTH / 2, region.lkey()));
      pair.postSend(
          new SendWorkRequest()
              .send()
              .id(2)
              .signaled()
              .buffer(region.address(), LENGTH / 2, region.lkey()));
      WorkCompletion[] completions = WorkCompletion.array(4);
      int count = 0;
      while (count < 2) {
        int polled = queue.poll(completions);
        for (int i = 0; i < polled; i++) {
          assertThat(completions[i].isSuccess()).as("%s", completions[i]).isTrue();
        }
        count += polled;
      }
    }
  }

  private static void connect(Device device, QueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(Set.of(Access.REMOTE_WRITE)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.port().gids().get(0)))
            .pathMtu(Mtu.MTU_4096)
            .destinationQueuePair(pair.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(7)
            .sendPsn(1)
            .maxReadAtomic(1));
  }
}
