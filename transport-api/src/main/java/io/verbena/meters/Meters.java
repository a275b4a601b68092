package io.verbena.meters;

/**
 * Who is told what connections do. Chosen once, by {@link io.verbena.RdmaOptions#meters}; one may
 * serve any number of transports. Thread-safe.
 */
public interface Meters {
  /** Nobody is told, and nothing is measured. */
  Meters OFF = new NoMeters();

  /**
   * A transport begins to use a device.
   *
   * @return to be closed before the device is
   */
  HcaMeter hca(MeteredHca hca);

  /**
   * A queue above a transport begins.
   *
   * @param adapter whose it is, for example {@code rsocket}
   * @param provider the scheme of its addresses
   * @return to be closed when the queue is forgotten
   */
  Watch watch(String adapter, String provider, Backlog backlog);

  /** Something that is looked at until it is closed. */
  interface Watch extends AutoCloseable {
    /** Ends it. Idempotent. */
    @Override
    void close();
  }
}
