// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC of an FPDU, of all that goes before it (RFC 5044, section 4.2), taken as its bytes come.
 * Where the ends of the stream have agreed on none the field is there all the same, and is 0.
 */
public final class FpduCheck {
  private final CRC32C crc = new CRC32C();
  private boolean on;

  /** Whether it is computed from now on. */
  public void on(boolean value) {
    on = value;
  }

  /** Whether it is computed. */
  public boolean isOn() {
    return on;
  }

  /** Begins an FPDU. */
  public void begin() {
    if (on) {
      crc.reset();
    }
  }

  /** Takes bytes of a buffer, whose position and limit stay. */
  public void take(ByteBuffer bytes, int at, int length) {
    if (on && length > 0) {
      int position = bytes.position();
      int limit = bytes.limit();
      crc.update(bytes.limit(at + length).position(at));
      bytes.limit(limit).position(position);
    }
  }

  /** The field, as it is read in network order. */
  public int field() {
    return on ? Integer.reverseBytes((int) crc.getValue()) : 0;
  }

  /** Whether this is the field of what was taken. */
  public boolean matches(int field) {
    return !on || field == field();
  }
}
