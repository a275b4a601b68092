// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC of an FPDU, over all bytes before the CRC field (RFC 5044, section 4.2), computed as the
 * bytes come. If the ends of the stream have agreed on no CRCs, the FPDU has the field all the
 * same, and it is 0.
 */
public final class FpduCheck {
  private final CRC32C crc = new CRC32C();
  private boolean on;

  /** Sets whether the CRC is computed from now on. */
  public void on(boolean value) {
    on = value;
  }

  /** Returns whether the CRC is computed. */
  public boolean isOn() {
    return on;
  }

  /** Begins an FPDU. */
  public void begin() {
    if (on) {
      crc.reset();
    }
  }

  /** Adds bytes of a buffer, whose position and limit do not change. */
  public void take(ByteBuffer bytes, int at, int length) {
    if (on && length > 0) {
      int position = bytes.position();
      int limit = bytes.limit();
      crc.update(bytes.limit(at + length).position(at));
      bytes.limit(limit).position(position);
    }
  }

  /** Returns the value of the CRC field, as read in network order. */
  public int field() {
    return on ? Integer.reverseBytes((int) crc.getValue()) : 0;
  }

  /** Returns whether a CRC field matches the bytes added; always true without CRCs. */
  public boolean matches(int field) {
    return !on || field == field();
  }
}
