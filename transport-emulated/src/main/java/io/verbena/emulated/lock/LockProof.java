// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.lock;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * What shows that messages come from somebody with the key: the first {@value #LENGTH} bytes of
 * their HMAC. A message is given with zeros where the proof stands.
 */
public final class LockProof {
  /** Bytes of a proof. */
  public static final int LENGTH = 16;

  private static final String REQUEST = "request";
  private static final String REFUSAL = "refusal";

  private LockProof() {}

  /** Of a request, which is the first message, so that nothing is agreed on yet. */
  public static byte[] ofRequest(LockKey key, byte[] request) {
    return make(early(key, REQUEST), request);
  }

  /** Of a refusal before anything is agreed on: of this request, and of no other. */
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

  /** Compares, in a time that says nothing of where they differ. */
  public static boolean equal(byte[] expected, ByteBuffer found) {
    byte[] bytes = new byte[found.remaining()];
    found.get(found.position(), bytes);
    return MessageDigest.isEqual(expected, bytes);
  }
}
