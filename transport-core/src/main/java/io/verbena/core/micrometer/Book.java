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

/** Enters meters into a registry, and knows which. Thread-safe. */
final class Book {
  private final MeterRegistry registry;
  private final Tags tags;
  private final Set<Meter> entered = new HashSet<>();
  private boolean closed;

  Book(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
  }

  /** A gauge that keeps its object alive. */
  <T> void gauge(
      String name, String unit, String description, Tags more, T of, ToDoubleFunction<T> value) {
    enter(
        Gauge.builder(name, of, value)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .strongReference(true)
            .register(registry));
  }

  /** A counter that is read; somebody else has to keep its object alive. */
  <T> void count(
      String name, String unit, String description, Tags more, T of, ToDoubleFunction<T> value) {
    enter(
        FunctionCounter.builder(name, of, value)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  Counter counter(String name, String unit, String description, Tags more) {
    return enter(
        Counter.builder(name)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  Timer timer(String name, String description, Tags more) {
    return enter(
        Timer.builder(name).description(description).tags(tags.and(more)).register(registry));
  }

  DistributionSummary summary(String name, String unit, String description, Tags more) {
    return enter(
        DistributionSummary.builder(name)
            .description(description)
            .baseUnit(unit)
            .tags(tags.and(more))
            .register(registry));
  }

  private <M extends Meter> M enter(M meter) {
    if (!entered(meter)) {
      registry.remove(meter);
    }
    return meter;
  }

  private synchronized boolean entered(Meter meter) {
    if (!closed) {
      entered.add(meter);
    }
    return !closed;
  }

  void close() {
    takeAll().forEach(registry::remove);
  }

  private synchronized Set<Meter> takeAll() {
    closed = true;
    Set<Meter> all = Set.copyOf(entered);
    entered.clear();
    return all;
  }
}
