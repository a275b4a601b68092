package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
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

/** A device of a run, with a domain, and with counters that all its peers add to. */
final class SimulatedDevice {
  private final Arena arena;
  private final Counter[] counters = new Counter[VerbsScenario.COUNTERS];
  private final List<CompletionQueue> queues = new ArrayList<>();
  private @Nullable Device device;
  private @Nullable ProtectionDomain domain;
  private @Nullable ProtectionDomain otherDomain;
  private @Nullable MemoryRegion region;
  private @Nullable RemoteKeyGrant hatch;

  /** Takes memory. */
  SimulatedDevice(Arena arena) {
    this.arena = arena;
    for (int i = 0; i < counters.length; i++) {
      counters[i] = new Counter(arena.take(Long.BYTES));
    }
  }

  /** Registers its memory, which is filled by now. */
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
    MemoryRegion registered =
        own.register(
            arena.memory.slice(first, length),
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC, Access.MW_BIND));
    region = registered;
    hatch =
        new RemoteKeyGrant(
            RemoteKeyGrant.Sort.DOMAIN_WINDOW,
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

  ProtectionDomain domain() {
    return opened(domain);
  }

  /** One that nobody's queue pair is in. */
  ProtectionDomain otherDomain() {
    return opened(otherDomain);
  }

  /** The window of type 1 over its counters. */
  RemoteKeyGrant hatch() {
    return opened(hatch);
  }

  Gid gid() {
    return opened(device).port().gids().get(0);
  }

  /** A completion queue: of its own for each who asks, or one for all. */
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

  /** After all is over: takes the sums for what is expected, once they are checked. */
  void settle() {
    for (Counter counter : counters) {
      long sum = arena.memory.getLong(counter.at);
      counter.checkSum(sum);
      arena.expectLong(counter.at, sum);
    }
  }

  void close() {
    hatch().close();
    opened(region).close();
    queues.forEach(CompletionQueue::close);
    domain().close();
    otherDomain().close();
    Device own = opened(device);
    takeEvents(
        pair -> {
          throw new Violation("told at the end that it is drained: " + pair);
        });
    own.close();
  }

  /**
   * Takes what it has told until now.
   *
   * @param drained is told of queue pairs of which the send queue is drained
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
