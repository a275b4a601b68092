// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * Proves that a message comes from an end that has the key: the first {@value #LENGTH} bytes of the
 * message's HMAC. A message is given with zeros in place of the proof.
 */
public final class LockProof {
  /** Bytes of a proof. */
  public static final int LENGTH = 16;

  private static final String REQUEST = "request";
  private static final String REFUSAL = "refusal";

  private LockProof() {}

  /** Returns the proof of a request, the first message, before any keys are agreed on. */
  public static byte[] ofRequest(LockKey key, byte[] request) {
    return make(early(key, REQUEST), request);
  }

  /**
   * Returns the proof of a refusal of this request, and of no other, before any keys are agreed on.
   */
  public static byte[] ofRefusal(LockKey key, byte[] request, byte[] refusal) {
    return make(early(key, REFUSAL), request, refusal);
  }

  private static byte[] early(LockKey key, String purpose) {
    byte[] salt = (LockSession.PROTOCOL + " " + purpose).getBytes(StandardCharsets.US_ASCII);
    return Hkdf.extract(salt, key.secret());
  }

  static byte[] make(byte[] key, byte[]... messages) {
    return Arrays.copyOf(Hkdf.hmac(key, messages), LENGTH);
  }

  /** Compares two proofs, in a time that does not depend on where they differ. */
  public static boolean equal(byte[] expected, ByteBuffer found) {
    byte[] bytes = new byte[found.remaining()];
    found.get(found.position(), bytes);
    return MessageDigest.isEqual(expected, bytes);
  }
}
