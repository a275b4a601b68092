// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.HashSet;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Registers meters in a registry and removes them all when it is closed. Thread-safe. */
final class MeterRegistration {
  private final MeterRegistry registry;
  private final Tags tags;
  private final Set<Meter> registered = new HashSet<>();
  private boolean closed;

  MeterRegistration(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
  }

  /** Registers a gauge, which keeps its object alive by a strong reference. */
  <T> void gauge(
      String name, String unit, String description, Tags more, T of, ToDoubleFunction<T> value) {
    register(
        Gauge.builder(name, of, value)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .strongReference(true)
            .register(registry));
  }

  /** Registers a counter that reads its object. The caller keeps the object alive. */
  <T> void count(
      String name, String unit, String description, Tags more, T of, ToDoubleFunction<T> value) {
    register(
        FunctionCounter.builder(name, of, value)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  Counter counter(String name, String unit, String description, Tags more) {
    return register(
        Counter.builder(name)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  Timer timer(String name, String description, Tags more) {
    return register(
        Timer.builder(name).description(description).tags(tags.and(more)).register(registry));
  }

  DistributionSummary summary(String name, String unit, String description, Tags more) {
    return register(
        DistributionSummary.builder(name)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  private <M extends Meter> M register(M meter) {
    if (!registered(meter)) {
      registry.remove(meter);
    }
    return meter;
  }

  private synchronized boolean registered(Meter meter) {
    if (!closed) {
      registered.add(meter);
    }
    return !closed;
  }

  void close() {
    takeAll().forEach(registry::remove);
  }

  private synchronized Set<Meter> takeAll() {
    closed = true;
    Set<Meter> all = Set.copyOf(registered);
    registered.clear();
    return all;
  }
}
