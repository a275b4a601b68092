// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An emulated HCA of the simulation, with a protection domain and counters that all its peers add
 * to.
 */
final class SimulatedDevice {
  private final Arena arena;
  private final Counter[] counters = new Counter[VerbsScenario.COUNTERS];
  private final List<CompletionQueue> queues = new ArrayList<>();
  private @Nullable Device device;
  private @Nullable ProtectionDomain domain;
  private @Nullable ProtectionDomain otherDomain;
  private @Nullable MemoryRegion region;
  private @Nullable RemoteKeyGrant type1Grant;

  /** Allocates the memory of the counters. */
  SimulatedDevice(Arena arena) {
    this.arena = arena;
    for (int i = 0; i < counters.length; i++) {
      counters[i] = new Counter(arena.allocate(Long.BYTES));
    }
  }

  /** Allocates the domains and registers the counters, after the arena was filled. */
  void open(Device opened) {
    device = opened;
    ProtectionDomain own = opened.allocateProtectionDomain();
    domain = own;
    otherDomain = opened.allocateProtectionDomain();
    for (Counter counter : counters) {
      arena.memory.putLong(counter.at, 0);
      arena.expectLong(counter.at, 0);
    }
    int first = counters[0].at;
    int length = counters[counters.length - 1].at + Long.BYTES - first;
    EnumSet<Access> rights = EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND);
    if (hasAtomics()) {
      rights.add(Access.REMOTE_ATOMIC);
    }
    MemoryRegion registered = own.register(arena.memory.slice(first, length), rights);
    region = registered;
    type1Grant =
        new RemoteKeyGrant(
            RemoteKeyGrant.Source.TYPE_1_WINDOW,
            own,
            registered,
            registered.address(),
            arena.memory.slice(first, length));
  }

  private static <T> T opened(@Nullable T object) {
    if (object == null) {
      throw new IllegalStateException("not opened yet");
    }
    return object;
  }

  boolean hasAtomics() {
    return opened(device).attributes().supports(Capability.ATOMICS);
  }

  ProtectionDomain domain() {
    return opened(domain);
  }

  /** Returns a domain without queue pairs. */
  ProtectionDomain otherDomain() {
    return opened(otherDomain);
  }

  /** Returns the grant of a type 1 window over the counters. */
  RemoteKeyGrant type1Grant() {
    return opened(type1Grant);
  }

  Gid gid() {
    return opened(device).port().gids().get(0);
  }

  /** Returns a new completion queue, or the same one for all callers if it is shared. */
  CompletionQueue queue(int depth, boolean shared) {
    if (!shared || queues.isEmpty()) {
      queues.add(opened(device).createCompletionQueue(depth, null));
    }
    return queues.get(queues.size() - 1);
  }

  List<CompletionQueue> queues() {
    return queues;
  }

  Counter counter(int number) {
    return counters[number];
  }

  long address(Counter counter) {
    return opened(region).address() + counter.at - counters[0].at;
  }

  int counterKey() {
    return opened(region).rkey();
  }

  /** Checks the final sums of the counters and adopts them as expected. */
  void reconcile() {
    for (Counter counter : counters) {
      long sum = arena.memory.getLong(counter.at);
      counter.checkSum(sum);
      arena.expectLong(counter.at, sum);
    }
  }

  void close() {
    type1Grant().close();
    opened(region).close();
    queues.forEach(CompletionQueue::close);
    domain().close();
    otherDomain().close();
    Device own = opened(device);
    takeEvents(
        pair -> {
          throw new Violation("SQ_DRAINED at the end of the run: " + pair);
        });
    own.close();
  }

  /**
   * Takes all pending asynchronous events.
   *
   * @param drained called with each queue pair whose send queue has drained
   */
  void takeEvents(Consumer<Object> drained) {
    Device own = opened(device);
    try {
      for (AsyncEvent event = own.awaitAsyncEvent(0);
          event != null;
          event = own.awaitAsyncEvent(0)) {
        switch (event.type()) {
          case SQ_DRAINED -> drained.accept(opened(event.source()));
          case CQ_ERR, DEVICE_FATAL, QP_FATAL -> throw new Violation("event " + event.type());
          default -> {}
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
