// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The counters of an opened device, or of a queue pair on it. They count only exceptional events,
 * so atomics are cheap enough. Thread-safe.
 */
final class EmulatedCounters implements DeviceCounters {
  private final Set<Counter> counted;

  /** Empty until the first count. */
  private volatile Map<Counter, AtomicLong> counts = Map.of();

  EmulatedCounters(Set<Counter> counted) {
    this.counted = Collections.unmodifiableSet(counted);
  }

  /** Counts one occurrence. */
  void count(Counter counter) {
    AtomicLong count = counts.get(counter);
    if (count == null) {
      count = make().get(counter);
    }
    requireNonNull(count, "counter").incrementAndGet();
  }

  private synchronized Map<Counter, AtomicLong> make() {
    Map<Counter, AtomicLong> all = counts;
    if (all.isEmpty()) {
      all = new EnumMap<>(Counter.class);
      for (Counter each : counted) {
        all.put(each, new AtomicLong());
      }
      counts = all;
    }
    return all;
  }

  @Override
  public Set<Counter> counted() {
    return counted;
  }

  @Override
  public long get(Counter counter) {
    AtomicLong count = counts.get(counter);
    if (count == null && !counted.contains(counter)) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "device counter " + counter + " (expected: one of " + counted + ")");
    }
    return count == null ? 0 : count.get();
  }
}
