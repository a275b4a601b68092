package io.verbena.emulated;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * Numbers that a peer must not guess: keys, queue pair numbers, PSNs (ReDMArk, USENIX Security
 * 2021).
 */
final class Secrets {
  /** From a cryptographic generator: for all that is not a simulation. */
  static final Secrets STRONG = new Secrets(new SecureRandom());

  private final RandomGenerator random;
  private final ByteBuffer pool = ByteBuffer.allocate(4096).limit(0);

  Secrets(RandomGenerator random) {
    this.random = random;
  }

  synchronized int nextInt() {
    if (pool.remaining() < Integer.BYTES) {
      random.nextBytes(pool.array());
      pool.clear();
    }
    return pool.getInt();
  }

  int next24Bits() {
    return nextInt() >>> 8;
  }

  synchronized long nextLong() {
    return (long) nextInt() << 32 | (nextInt() & 0xffff_ffffL);
  }
}
