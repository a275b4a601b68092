// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

import org.jspecify.annotations.Nullable;

/** A peer that said something that this protocol does not have. Never leaves the transport. */
public final class ProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The version that the peer speaks, or null if that is not what is wrong. */
  private final @Nullable Integer version;

  private ProtocolException(String message, @Nullable Integer version) {
    super(message, null, false, false);
    this.version = version;
  }

  /** A field that has a value it cannot have. */
  public static ProtocolException malformed(String field, long value, String expected) {
    return new ProtocolException(field + ": " + value + " (expected: " + expected + ")", null);
  }

  /** Another version. */
  public static ProtocolException version(int version) {
    return new ProtocolException(
        "protocol version: " + version + " (expected: " + Handshake.VERSION + ")", version);
  }

  /** The version that the peer speaks, or null if that is not what is wrong. */
  public @Nullable Integer version() {
    return version;
  }
}
