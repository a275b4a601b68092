// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * Computes proofs that a message comes from an end that has the key. A proof is the first {@value
 * #LENGTH} bytes of the HMAC of the message, with zeros in place of the proof.
 */
public final class SecretProof {
  /** The number of bytes of a proof. */
  public static final int LENGTH = 16;

  private static final String REQUEST = "request";
  private static final String REFUSAL = "refusal";

  private SecretProof() {}

  /**
   * Returns the proof of a request, the first message of a connection, before the ends have agreed
   * on keys.
   */
  public static byte[] ofRequest(SharedSecret key, byte[] request) {
    return make(early(key, REQUEST), request);
  }

  /**
   * Returns the proof of a refusal, which is valid only for this request, before the ends have
   * agreed on keys.
   */
  public static byte[] ofRefusal(SharedSecret key, byte[] request, byte[] refusal) {
    return make(early(key, REFUSAL), request, refusal);
  }

  private static byte[] early(SharedSecret key, String purpose) {
    byte[] salt = (SessionKeys.PROTOCOL + " " + purpose).getBytes(StandardCharsets.US_ASCII);
    return Hkdf.extract(salt, key.secret());
  }

  static byte[] make(byte[] key, byte[]... messages) {
    return Arrays.copyOf(Hkdf.hmac(key, messages), LENGTH);
  }

  /** Compares two proofs in constant time. */
  public static boolean equal(byte[] expected, ByteBuffer found) {
    byte[] bytes = new byte[found.remaining()];
    found.get(found.position(), bytes);
    return MessageDigest.isEqual(expected, bytes);
  }
}
