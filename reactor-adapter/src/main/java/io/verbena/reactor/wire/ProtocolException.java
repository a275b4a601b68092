// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

import org.jspecify.annotations.Nullable;

/** Thrown when the peer violates the protocol. Never leaves the transport. */
public final class ProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The protocol version of the peer, or null if that is not the error. */
  private final @Nullable Integer version;

  private ProtocolException(String message, @Nullable Integer version) {
    super(message, null, false, false);
    this.version = version;
  }

  /** Returns the exception for a field with an invalid value. */
  public static ProtocolException malformed(String field, long value, String expected) {
    return new ProtocolException(field + ": " + value + " (expected: " + expected + ")", null);
  }

  /** Returns the exception for another version of the protocol. */
  public static ProtocolException version(int version) {
    return new ProtocolException(
        "protocol version: " + version + " (expected: " + Handshake.VERSION + ")", version);
  }

  /** Returns the protocol version of the peer, or null if that is not the error. */
  public @Nullable Integer version() {
    return version;
  }
}
