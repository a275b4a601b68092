package io.verbena.core.memory;

/**
 * Bytes that a peer may READ, and nothing beside them. Their buffer must be retained until this is
 * closed. Thread-safe.
 */
public final class Exposure implements AutoCloseable {
  private final Registration registration;

  Exposure(Registration registration) {
    this.registration = registration;
  }

  /** The address of the first byte, for the peer. */
  public long address() {
    return registration.region().address();
  }

  /** The key by which the peer names them. */
  public int rkey() {
    return registration.region().rkey();
  }

  /** Deregisters them: the key is dead at once. Idempotent. */
  @Override
  public void close() {
    registration.close();
  }
}
