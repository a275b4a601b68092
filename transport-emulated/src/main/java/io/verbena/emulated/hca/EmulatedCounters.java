// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts of one opened device, or of a queue pair on it. All that it counts is exceptional, so an
 * atomic does no harm.
 */
final class EmulatedCounters implements DeviceCounters {
  private final Map<Counter, AtomicLong> counts = new EnumMap<>(Counter.class);
  private final Set<Counter> counted = Collections.unmodifiableSet(counts.keySet());

  EmulatedCounters(Set<Counter> counted) {
    for (Counter counter : counted) {
      counts.put(counter, new AtomicLong());
    }
  }

  /** One more. */
  void count(Counter counter) {
    of(counter).incrementAndGet();
  }

  @Override
  public Set<Counter> counted() {
    return counted;
  }

  @Override
  public long get(Counter counter) {
    return of(counter).get();
  }

  private AtomicLong of(Counter counter) {
    AtomicLong count = counts.get(counter);
    if (count == null) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "device counter " + counter + " (expected: one of " + counted + ")");
    }
    return count;
  }
}
