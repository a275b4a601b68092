// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Reports UP while the HCA can be opened and its port is active; if TCP may take its place, also on
 * a host without the HCA. Keeps the device open from the first check on. Thread-safe; a check may
 * block while the device is opened.
 */
final class HcaHealthIndicator extends AbstractHealthIndicator implements DisposableBean {
  private static final String CONNECTIONS = "verbena.connections";
  private static final String REGISTERED = "verbena.memory.registered";

  private final URI hca;
  private final boolean orTcp;
  private final @Nullable MeterRegistry registry;
  private @Nullable Device device;

  /**
   * @param orTcp whether TCP takes the place of a missing HCA
   * @param registry has the meters of connections and memory; null if there are no meters
   */
  HcaHealthIndicator(URI hca, boolean orTcp, @Nullable MeterRegistry registry) {
    super("the HCA " + hca + " cannot be used");
    this.hca = hca;
    this.orTcp = orTcp;
    this.registry = registry;
  }

  @Override
  protected synchronized void doHealthCheck(Health.Builder health) {
    health.withDetail("hca", hca.toString());
    Device open = device;
    if (open == null) {
      try {
        open = VerbsProviders.find(hca).open(hca);
      } catch (VerbsException e) {
        if (!orTcp || e.error() != VerbsError.NO_DEVICE) {
          throw e;
        }
        health.up().withDetail("device", "none, connections use TCP only");
        return;
      }
      device = open;
    }
    PortAttributes port;
    try {
      port = open.port();
    } catch (VerbsException e) {
      // The next check opens the device again: it may have been plugged in again.
      destroy();
      throw e;
    }
    health
        .status(port.active() ? Status.UP : Status.DOWN)
        .withDetail("device", open.attributes().name())
        .withDetail("port", port.active() ? "active" : "down")
        .withDetail("mtu", port.activeMtu().bytes());
    addSum(health, "queuePairs", CONNECTIONS);
    addSum(health, "registeredBytes", REGISTERED);
  }

  private void addSum(Health.Builder health, String detail, String meter) {
    if (registry != null) {
      double sum = registry.find(meter).gauges().stream().mapToDouble(Gauge::value).sum();
      health.withDetail(detail, (long) sum);
    }
  }

  @Override
  public synchronized void destroy() {
    Device open = device;
    if (open != null) {
      device = null;
      open.close();
    }
  }
}
