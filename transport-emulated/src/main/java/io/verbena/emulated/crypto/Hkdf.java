// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HKDF with HMAC-SHA-256 (RFC 5869), which the JDK itself has only from version 25 on. */
final class Hkdf {
  /** The number of bytes of a hash and of each derived key. */
  static final int HASH = 32;

  private static final String HMAC = "HmacSHA256";
  private static final int MOST_BLOCKS = 255;

  private Hkdf() {}

  /** Derives a key of uniform strength from any secret (RFC 5869, section 2.2). */
  static byte[] extract(byte[] salt, byte[] secret) {
    // SecretKeySpec rejects an empty key; a key of zeros is equivalent.
    return hmac(salt.length == 0 ? new byte[HASH] : salt, secret);
  }

  /** Derives {@code length} bytes for a purpose from an extracted key (RFC 5869, section 2.3). */
  static byte[] expand(byte[] key, byte[] purpose, int length) {
    int blocks = (length + HASH - 1) / HASH;
    if (length < 1 || blocks > MOST_BLOCKS) {
      throw new IllegalArgumentException(
          "length: " + length + " (expected: 1.." + MOST_BLOCKS * HASH + ")");
    }
    byte[] all = new byte[blocks * HASH];
    byte[] last = new byte[0];
    for (int block = 1; block <= blocks; block++) {
      last = hmac(key, last, purpose, new byte[] {(byte) block});
      System.arraycopy(last, 0, all, (block - 1) * HASH, HASH);
    }
    return Arrays.copyOf(all, length);
  }

  /** Returns the HMAC of the concatenated parts. */
  static byte[] hmac(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(HMAC + ": not available (expected: in every JDK)", e);
    }
  }
}
