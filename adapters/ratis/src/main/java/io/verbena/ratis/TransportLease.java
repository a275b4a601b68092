// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.verbena.RdmaTransport;
import org.jspecify.annotations.Nullable;

/**
 * The use of a transport by one server or client: the program's own transport, or one with default
 * options that all others of this JVM share. The shared one exists from its first use until its
 * last user closes. Thread-safe.
 */
final class TransportLease implements AutoCloseable {
  private static final Object LOCK = new Object();
  private static @Nullable RdmaTransport shared;
  private static int users;

  private final @Nullable RdmaTransport own;
  private @Nullable RdmaTransport taken;
  private boolean closed;

  /**
   * @param own the program's transport, which is left open; null for the shared one
   */
  TransportLease(@Nullable RdmaTransport own) {
    this.own = own;
  }

  /**
   * Returns the transport; the first call acquires it.
   *
   * @throws IllegalStateException after {@link #close}
   */
  RdmaTransport get() {
    synchronized (LOCK) {
      if (closed) {
        throw new IllegalStateException("transport: its server or client is closed");
      }
      RdmaTransport transport = taken;
      if (transport == null) {
        transport = own == null ? share() : own;
        taken = transport;
      }
      return transport;
    }
  }

  private static RdmaTransport share() {
    RdmaTransport transport = shared;
    if (transport == null) {
      transport = RdmaTransport.create();
      shared = transport;
    }
    users++;
    return transport;
  }

  /**
   * Releases the transport, and disposes of the shared one if this was its last user. Idempotent.
   */
  @Override
  public void close() {
    RdmaTransport last = null;
    synchronized (LOCK) {
      if (!closed && taken != null && own == null && --users == 0) {
        last = taken;
        shared = null;
      }
      closed = true;
    }
    if (last != null) {
      last.dispose();
    }
  }
}
