package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of a transport's send queues, for Micrometer, which is an optional dependency:
 *
 * <ul>
 *   <li>{@code verbena.rsocket.send.queue.bytes}: what waits on all connections
 *   <li>{@code verbena.rsocket.send.queue.bytes.most}: what waits on the connection with most
 *   <li>{@code verbena.rsocket.send.queue.bytes.limit}: at which a connection fails
 *   <li>{@code verbena.rsocket.connections}: the open connections
 * </ul>
 */
public final class SendQueueMetrics implements MeterBinder {
  private static final String BYTES = "verbena.rsocket.send.queue.bytes";

  private final SendQueues queues;
  private final Iterable<Tag> tags;

  /**
   * @param queues of a client's or a server's transport
   * @param tags that tell them from those of other transports
   */
  public SendQueueMetrics(SendQueues queues, Iterable<Tag> tags) {
    this.queues = requireNonNull(queues, "queues");
    this.tags = requireNonNull(tags, "tags");
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder(BYTES, queues, SendQueues::bytes)
        .description("Bytes that wait for the peers' credits")
        .baseUnit(BaseUnits.BYTES)
        .tags(tags)
        .register(registry);
    Gauge.builder(BYTES + ".most", queues, SendQueues::mostBytes)
        .description("Bytes that wait on the connection where most wait")
        .baseUnit(BaseUnits.BYTES)
        .tags(tags)
        .register(registry);
    Gauge.builder(BYTES + ".limit", queues, SendQueues::limit)
        .description("Bytes at which a connection fails")
        .baseUnit(BaseUnits.BYTES)
        .tags(tags)
        .register(registry);
    Gauge.builder("verbena.rsocket.connections", queues, SendQueues::count)
        .description("Open connections")
        .tags(tags)
        .register(registry);
  }
}
