// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedMemoryRegion;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The memory of one end, with one region per buffer. Access to the lost part throws, as access to
 * freed memory does.
 */
final class LostMemory implements AutoCloseable {
  final List<EmulatedMemoryRegion> regions = new ArrayList<>();
  final int piece;

  LostMemory(ProtectionDomain domain, int length, int pieces, Set<Access> access) {
    piece = length / pieces;
    for (int i = 0; i < pieces; i++) {
      ByteBuffer memory = ByteBuffer.allocateDirect(piece);
      regions.add((EmulatedMemoryRegion) domain.register(memory, access));
    }
  }

  void addTo(SendWorkRequest request) {
    for (MemoryRegion region : regions) {
      request.buffers().add(region.address(), piece, region.lkey());
    }
  }

  void addTo(ReceiveWorkRequest request) {
    for (MemoryRegion region : regions) {
      request.buffers().add(region.address(), piece, region.lkey());
    }
  }

  /** Makes a region throw from this byte on. */
  void lose(int region, int from) {
    regions.get(region).key().memory().limit(from);
  }

  /** Returns the next completion of a queue. */
  static WorkCompletion next(CompletionQueue queue, WorkCompletion[] one) {
    spinUntil("a completion", () -> queue.poll(one) != 0);
    return one[0];
  }

  /** Waits until a queue pair is in a state. */
  static void awaitState(QueuePair pair, QueuePairState state) {
    spinUntil("the state " + state, () -> pair.state() == state);
  }

  /** Spins, because Awaitility polls first after 100 ms, too slow for some 500 tests. */
  private static void spinUntil(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (int spins = 0; !condition.getAsBoolean(); spins++) {
      assertThat(System.nanoTime()).as("%s in time", what).isLessThan(deadline);
      Ownership.pause(spins);
    }
  }

  @Override
  public void close() {
    regions.forEach(MemoryRegion::close);
  }
}
