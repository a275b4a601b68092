// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key of one direction, for as many packets as one key may seal. The next key is derived from
 * it; earlier keys cannot be.
 *
 * <p>The cipher is the JDK's AES-256-GCM. A nonce is the packet's 64-bit number XORed with 96 bits
 * that are derived with the key, so that no nonce occurs twice with a key (NIST SP 800-38D, section
 * 8.2.1).
 */
final class PacketKey {
  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int NONCE = 12;
  private static final int TAG_BITS = Byte.SIZE * PacketCipher.TAG;

  private final byte[] secret;
  private final SecretKeySpec key;
  private final byte[] base;

  /** The nonce of the current packet; each use copies it. */
  private final byte[] nonce = new byte[NONCE];

  PacketKey(byte[] secret) {
    this.secret = secret;
    key = new SecretKeySpec(SessionKeys.expand(secret, "key"), "AES");
    base = Arrays.copyOf(SessionKeys.expand(secret, "nonce"), NONCE);
  }

  PacketKey next() {
    return new PacketKey(SessionKeys.expand(secret, "next"));
  }

  static Cipher cipher() {
    try {
      return Cipher.getInstance(CIPHER);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(CIPHER + ": not available (expected: in every JDK)", e);
    }
  }

  /** Prepares a cipher for one packet. */
  void begin(Cipher cipher, int mode, long counter, byte[] header) throws GeneralSecurityException {
    System.arraycopy(base, 0, nonce, 0, NONCE);
    for (int i = 0; i < Long.BYTES; i++) {
      nonce[NONCE - 1 - i] ^= (byte) (counter >>> (Byte.SIZE * i));
    }
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(header);
  }
}
