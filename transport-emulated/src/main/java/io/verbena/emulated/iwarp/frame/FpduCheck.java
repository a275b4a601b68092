// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC of an FPDU, over all bytes before it (RFC 5044, section 4.2), computed as they come. If
 * the ends of the stream have agreed on no CRCs, the field is there all the same, and is 0.
 */
public final class FpduCheck {
  private final CRC32C crc = new CRC32C();
  private boolean on;

  /** Sets whether it is computed from now on. */
  public void on(boolean value) {
    on = value;
  }

  /** Returns whether it is computed. */
  public boolean isOn() {
    return on;
  }

  /** Begins an FPDU. */
  public void begin() {
    if (on) {
      crc.reset();
    }
  }

  /** Adds bytes of a buffer, whose position and limit stay. */
  public void take(ByteBuffer bytes, int at, int length) {
    if (on && length > 0) {
      int position = bytes.position();
      int limit = bytes.limit();
      crc.update(bytes.limit(at + length).position(at));
      bytes.limit(limit).position(position);
    }
  }

  /** Returns the field, as read in network order. */
  public int field() {
    return on ? Integer.reverseBytes((int) crc.getValue()) : 0;
  }

  /** Returns whether this is the field of the bytes added. */
  public boolean matches(int field) {
    return !on || field == field();
  }
}
