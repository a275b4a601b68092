// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;

/** The payload of an atomic response (RFC 7306, section 5.2.2). */
public final class AtomicResponse {
  private AtomicResponse() {}

  /** Appends the response to the request {@code identifier}, which found {@code original}. */
  public static void write(ByteBuffer to, int identifier, long original) {
    to.putInt(identifier).putLong(original);
  }

  /** Returns the identifier of the answered request. */
  public static int identifier(ByteBuffer bytes, int at) {
    return bytes.getInt(at + FpduLayout.RESPONSE_IDENTIFIER_OFFSET);
  }

  /** Returns the value that the request found. */
  public static long original(ByteBuffer bytes, int at) {
    return bytes.getLong(at + FpduLayout.RESPONSE_ORIGINAL_OFFSET);
  }
}
