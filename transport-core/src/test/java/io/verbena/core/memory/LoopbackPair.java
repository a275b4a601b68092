// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.time.Duration;
import java.util.Set;
import org.awaitility.Awaitility;

/** Two connected queue pairs of one device; the first one READs. */
final class LoopbackPair implements AutoCloseable {
  private static final Set<Access> ALL_RIGHTS =
      Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

  private final CompletionQueue completions;
  private final QueuePair reader;
  private final QueuePair peer;

  LoopbackPair(ProtectionDomain domain) {
    completions = domain.device().createCompletionQueue(8, null);
    QueuePairOptions options = QueuePairOptions.reliable(completions, completions, 1, 1);
    reader = domain.createQueuePair(options);
    peer = domain.createQueuePair(options);
    connect(domain.device(), reader, peer);
    connect(domain.device(), peer, reader);
    reader.modify(readyToSend());
    peer.modify(readyToSend());
  }

  private static void connect(Device device, QueuePair from, QueuePair to) {
    from.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(ALL_RIGHTS));
    from.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(device.port().gids().get(0)))
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(12));
  }

  private static QueuePairAttributes readyToSend() {
    return new QueuePairAttributes()
        .state(QueuePairState.RTS)
        .timeout(14)
        .retryCount(7)
        .rnrRetry(7)
        .sendPsn(1)
        .maxReadAtomic(1);
  }

  /** Executes a READ and returns its status. */
  CompletionStatus read(long remoteAddress, int rkey, long address, int lkey, int length) {
    reader.postSend(
        new SendWorkRequest().read(remoteAddress, rkey).buffer(address, length, lkey).signaled());
    WorkCompletion[] done = WorkCompletion.array(1);
    Awaitility.await("a completion")
        .atMost(Duration.ofSeconds(10))
        .pollDelay(Duration.ZERO)
        .until(() -> completions.poll(done) == 1);
    return done[0].status();
  }

  @Override
  public void close() {
    reader.close();
    peer.close();
    completions.close();
  }
}
