// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One end of a connection between sanitized devices, which closes all its objects in order. */
final class End implements AutoCloseable {
  static final URI ADDRESS = URI.create("emulated://sanitized?sanitize=true");
  private static final int PSN = 7;
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  final Device device;
  final ProtectionDomain domain;
  final CompletionQueue sends;
  final CompletionQueue receives;
  final QueuePair queuePair;
  final @Nullable SharedReceiveQueue sharedReceives;
  private final List<MemoryRegion> regions = new ArrayList<>();

  End(int depth, int maxSend, int maxReceive) {
    this(depth, maxSend, maxReceive, false);
  }

  End(int depth, int maxSend, int maxReceive, boolean shared) {
    device = VerbsProviders.find(ADDRESS).open(ADDRESS);
    domain = device.allocateProtectionDomain();
    sends = device.createCompletionQueue(depth, null);
    receives = device.createCompletionQueue(depth, null);
    QueuePairOptions options = QueuePairOptions.reliable(sends, receives, maxSend, maxReceive);
    sharedReceives = shared ? domain.createSharedReceiveQueue(maxReceive, 1) : null;
    queuePair =
        domain.createQueuePair(
            sharedReceives == null ? options : options.withSharedReceiveQueue(sharedReceives));
  }

  Memory memory(int length, Access... access) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    Set<Access> rights = access.length == 0 ? Set.of() : EnumSet.of(access[0], access);
    Memory memory = new Memory(bytes, domain.register(bytes, rights));
    regions.add(memory.region());
    return memory;
  }

  /** Takes the queue pair from RESET to RTS. */
  void connect(End peer, int rnrRetry) {
    queuePair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
    queuePair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(peer.device.port().gids().get(0)))
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(peer.queuePair.number())
            .receivePsn(PSN)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    queuePair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(rnrRetry)
            .sendPsn(PSN)
            .maxReadAtomic(1));
  }

  /** Waits for the next completion. */
  static WorkCompletion take(CompletionQueue queue) {
    WorkCompletion[] one = WorkCompletion.array(1);
    long start = System.nanoTime();
    for (int spins = 0; queue.poll(one) == 0; spins++) {
      assertThat(System.nanoTime() - start)
          .as("a completion within 10 s")
          .isLessThan(PATIENCE_NANOS);
      Ownership.pause(spins);
    }
    return one[0];
  }

  /** Closes as a correct program does: error state, drain, queue pair, regions, queues. */
  @Override
  public void close() {
    if (queuePair.state() != QueuePairState.RESET) {
      queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
      drain(sends);
      drain(receives);
    }
    queuePair.close();
    if (sharedReceives != null) {
      sharedReceives.close();
    }
    regions.forEach(MemoryRegion::close);
    sends.close();
    receives.close();
    domain.close();
    device.close();
  }

  private static void drain(CompletionQueue queue) {
    WorkCompletion[] batch = WorkCompletion.array(16);
    int count;
    do {
      count = queue.poll(batch);
    } while (count > 0);
  }
}
