// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import java.util.HashMap;
import java.util.Map;

/**
 * Registers the meters of all transports that are created with this object in a Micrometer
 * registry:
 *
 * <pre>{@code
 * VerbenaMeters meters = new VerbenaMeters(registry);
 * RdmaTransport transport = RdmaTransport.create(RdmaOptions.builder().meters(meters).build());
 * RdmaSockets.builder(URI.create("emulated://netty"))
 *     .options(RdmaOptions.builder().meters(meters).build())
 * }</pre>
 *
 * <p>All meters carry the tags {@code adapter} ({@code reactor}, {@code netty}, {@code rsocket})
 * and {@code provider} (the scheme of the address), and the tags passed to the constructor. Meters
 * of {@code verbena.device} carry {@code device} in place of {@code adapter}. Connections of one
 * adapter on one provider are counted together: the number of meters does not depend on the number
 * of connections.
 *
 * <ul>
 *   <li>{@code verbena.messages} and {@code verbena.data} (bytes): counters, by {@code direction}
 *   <li>{@code verbena.operations}: a timer of work requests from post to completion, by {@code
 *       operation} and {@code status}; {@code verbena.operations.data} (bytes): a counter of the
 *       bytes that they moved, by {@code operation}
 *   <li>{@code verbena.errors}: a counter of errors that the program got, by {@code operation},
 *       {@code status} and {@code exception}
 *   <li>{@code verbena.connections}, {@code verbena.send.queue.depth}, {@code
 *       verbena.send.queue.limit}, {@code verbena.credits} by {@code credit}, {@code
 *       verbena.memory.registered} and {@code verbena.memory.limit} (bytes): gauges
 *   <li>{@code verbena.completion.queue.depth}: a summary of the completions found by each poll
 *       that found any; {@code verbena.completion.queue.reserved}, {@code
 *       verbena.completion.queue.limit}, {@code verbena.receive.pool.size} and {@code
 *       verbena.receive.pool.promised}: gauges
 *   <li>{@code verbena.loop.stalls}, {@code verbena.connections.refused} by {@code reason}, {@code
 *       verbena.connections.chosen} by {@code medium}, {@code verbena.keep.alive.questions} and
 *       {@code verbena.keep.alive.dead}: counters
 *   <li>{@code verbena.backlog}, {@code verbena.backlog.most}, {@code verbena.backlog.limit}
 *       (bytes) and {@code verbena.backlog.queues}: gauges of the queues in front of transports
 *   <li>{@code verbena.device.rnr} by {@code direction}, {@code verbena.device.retransmissions},
 *       {@code verbena.device.out.of.sequence}, {@code verbena.device.duplicates}: counters of the
 *       HCA, as far as it has them
 * </ul>
 *
 * <p>Gauges are sums over all open objects, and 0 if there are none. Two objects of this class on
 * one registry need different tags; otherwise Micrometer shows only the gauges of the first.
 * Thread-safe.
 */
public final class VerbenaMeters implements Meters, AutoCloseable {
  private final MeterRegistration registration;
  private final Map<String, AdapterMeters> adapters = new HashMap<>();
  private final Map<String, DeviceMeters> devices = new HashMap<>();

  /** Adds no further tags. */
  public VerbenaMeters(MeterRegistry registry) {
    this(registry, Tags.empty());
  }

  /**
   * @param registry the registry, which stays the caller's
   * @param tags the tags of all meters, which distinguish them from those of another {@code
   *     VerbenaMeters}
   */
  public VerbenaMeters(MeterRegistry registry, Tags tags) {
    registration =
        new MeterRegistration(requireNonNull(registry, "registry"), requireNonNull(tags, "tags"));
  }

  @Override
  public HcaMeter hca(MeteredHca hca) {
    String device = hca.device().attributes().name();
    DeviceMeters counters;
    synchronized (this) {
      counters =
          devices.computeIfAbsent(
              hca.provider() + '/' + device,
              key -> new DeviceMeters(registration, hca.provider(), device));
    }
    return adapter(hca.adapter(), hca.provider()).open(hca, counters);
  }

  @Override
  public Watch watch(String adapter, String provider, Backlog backlog) {
    return adapter(adapter, provider).watch(backlog);
  }

  private synchronized AdapterMeters adapter(String adapter, String provider) {
    return adapters.computeIfAbsent(
        adapter + '/' + provider, key -> new AdapterMeters(registration, adapter, provider));
  }

  /** Removes the meters from the registry; transports continue without them. */
  @Override
  public void close() {
    registration.close();
  }
}
