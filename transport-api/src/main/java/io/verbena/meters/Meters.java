// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

/**
 * Measures connections. Set by {@link io.verbena.RdmaOptions#meters}; one object may serve any
 * number of transports. Thread-safe.
 */
public interface Meters {
  /** Measures nothing. */
  Meters OFF = new NoMeters();

  /**
   * Called when a transport begins to use a device.
   *
   * @return the device's meter, closed before the device
   */
  HcaMeter hca(MeteredHca hca);

  /**
   * Watches a queue in front of a transport.
   *
   * @param adapter the adapter that has the queue, for example {@code rsocket}
   * @param provider the scheme of its addresses
   * @return the watch, which the adapter closes when it drops the queue
   */
  Watch watch(String adapter, String provider, Backlog backlog);

  /** A watch of a queue, which ends when it is closed. */
  interface Watch extends AutoCloseable {
    /** Ends the watch. Idempotent. */
    @Override
    void close();
  }
}
