package io.verbena.emulated;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Numbers that a peer must not guess: keys, queue pair numbers, PSNs (ReDMArk, USENIX Security
 * 2021).
 */
final class Secrets {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final ByteBuffer POOL = ByteBuffer.allocate(4096).limit(0);

  private Secrets() {}

  static int nextInt() {
    synchronized (POOL) {
      if (POOL.remaining() < Integer.BYTES) {
        RANDOM.nextBytes(POOL.array());
        POOL.clear();
      }
      return POOL.getInt();
    }
  }

  static int next24Bits() {
    return nextInt() >>> 8;
  }

  static long nextLong() {
    return (long) nextInt() << 32 | (nextInt() & 0xffff_ffffL);
  }
}
