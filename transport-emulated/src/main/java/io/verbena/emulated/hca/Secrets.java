// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/**
 * Numbers that a peer must not guess: keys, queue pair numbers, PSNs (ReDMArk, USENIX Security
 * 2021). Thread-safe.
 */
public final class Secrets {
  /** The source with a cryptographic generator, for everything except simulations. */
  public static final Secrets STRONG = new Secrets(new SecureRandom());

  private final RandomGenerator random;
  private final ByteBuffer pool = ByteBuffer.allocate(4096).limit(0);

  /** Creates a source of numbers from another generator, for runs that repeat. */
  public Secrets(RandomGenerator random) {
    this.random = random;
  }

  /** Returns 32 random bits. */
  public synchronized int nextInt() {
    if (pool.remaining() < Integer.BYTES) {
      random.nextBytes(pool.array());
      pool.clear();
    }
    return pool.getInt();
  }

  /** Returns 24 random bits: a queue pair number, or a PSN. */
  public int next24Bits() {
    return nextInt() >>> 8;
  }

  /** Returns 64 random bits. */
  public synchronized long nextLong() {
    return (long) nextInt() << 32 | (nextInt() & 0xffff_ffffL);
  }
}
