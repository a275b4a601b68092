// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.micrometer.core.instrument.Tags;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.VerbsException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The counters of all devices of one name, each counted from its first opening to its last closing.
 * A device that several transports have open counts once.
 */
final class DeviceMeters {
  private final MeterRegistration registration;
  private final Tags tags;
  private final IdentityHashMap<Object, DeviceCounters> users = new IdentityHashMap<>();
  private final IdentityHashMap<DeviceCounters, Growth> open = new IdentityHashMap<>();
  private final Map<Counter, Long> before = new EnumMap<>(Counter.class);
  private final Set<Counter> entered = EnumSet.noneOf(Counter.class);

  DeviceMeters(MeterRegistration registration, String provider, String device) {
    this.registration = registration;
    tags = Tags.of("provider", provider, "device", device);
  }

  /** The growth of an open device's counters since its opening. */
  private static final class Growth {
    private final DeviceCounters counters;
    private final Map<Counter, Long> starts = new EnumMap<>(Counter.class);
    private final Map<Counter, Long> latest = new EnumMap<>(Counter.class);

    Growth(DeviceCounters counters) {
      this.counters = counters;
      for (Counter counter : counters.counted()) {
        starts.put(counter, read(counter));
      }
    }

    long of(Counter counter) {
      Long start = starts.get(counter);
      return start == null ? 0 : read(counter) - start;
    }

    /** Reads a counter; returns the last value if the device can no longer be read. */
    private long read(Counter counter) {
      try {
        latest.put(counter, counters.get(counter));
      } catch (VerbsException e) {
        latest.putIfAbsent(counter, 0L);
      }
      return latest.getOrDefault(counter, 0L);
    }
  }

  /**
   * Adds a user of a device.
   *
   * @param user the key of the user, to be passed to {@link #closed}
   */
  void opened(Object user, DeviceCounters counters) {
    for (Counter counter : begin(user, counters)) {
      enter(counter);
    }
  }

  /** Adds a user; returns the counters that no meter shows yet. */
  private synchronized Set<Counter> begin(Object user, DeviceCounters counters) {
    users.put(user, counters);
    open.computeIfAbsent(counters, Growth::new);
    Set<Counter> added = EnumSet.noneOf(Counter.class);
    for (Counter counter : counters.counted()) {
      if (entered.add(counter)) {
        added.add(counter);
      }
    }
    return added;
  }

  private void enter(Counter counter) {
    switch (counter) {
      case RNR_SENT -> enterRnr(counter, "in");
      case RNR_RECEIVED -> enterRnr(counter, "out");
      case RETRANSMISSIONS ->
          enter(
              counter,
              "retransmissions",
              "retransmissions",
              "Times that packets without an answer were sent again",
              tags);
      case OUT_OF_SEQUENCE ->
          enter(counter, "out.of.sequence", "requests", "Requests that came behind a gap", tags);
      case DUPLICATES ->
          enter(counter, "duplicates", "requests", "Requests that had come before", tags);
    }
  }

  private void enterRnr(Counter counter, String direction) {
    enter(
        counter,
        "rnr",
        "messages",
        "Messages that found no receive at their destination",
        tags.and("direction", direction));
  }

  private void enter(Counter counter, String name, String unit, String text, Tags with) {
    registration.count(
        "verbena.device." + name, unit, text, with, this, meters -> meters.total(counter));
  }

  /** Removes a user of a device. Idempotent. */
  synchronized void closed(Object user) {
    DeviceCounters counters = users.remove(user);
    if (counters == null || users.values().stream().anyMatch(other -> other == counters)) {
      return;
    }
    Growth growth = open.remove(counters);
    if (growth != null) {
      for (Counter counter : growth.starts.keySet()) {
        before.merge(counter, growth.of(counter), Long::sum);
      }
    }
  }

  private synchronized double total(Counter counter) {
    long sum = before.getOrDefault(counter, 0L);
    for (Growth growth : open.values()) {
      sum += growth.of(counter);
    }
    return sum;
  }
}
