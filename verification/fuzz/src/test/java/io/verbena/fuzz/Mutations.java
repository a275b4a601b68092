// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Mutates valid inputs: flips bits, sets numbers to limits, cuts, repeats and splices. */
final class Mutations {
  private static final long[] LIMITS = {
    0,
    1,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000L,
    0xffff_ffffL,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1
  };

  private final List<byte[]> seeds;
  private final Random random;
  private final int longest;

  Mutations(List<byte[]> seeds, Random random, int longest) {
    this.seeds = seeds;
    this.random = random;
    this.longest = longest;
  }

  byte[] next() {
    byte[] input = seed().clone();
    for (int i = random.nextInt(6); i >= 0; i--) {
      input = mutate(input);
    }
    return input.length <= longest ? input : Arrays.copyOf(input, longest);
  }

  private byte[] seed() {
    return seeds.get(random.nextInt(seeds.size()));
  }

  private byte[] mutate(byte[] input) {
    if (input.length == 0) {
      return chance();
    }
    int at = random.nextInt(input.length);
    switch (random.nextInt(6)) {
      case 0 -> input[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> input[at] = (byte) random.nextInt();
      case 2 -> limit(input, at);
      case 3 -> {
        return Arrays.copyOf(input, at);
      }
      case 4 -> {
        return splice(input, at, seed());
      }
      default -> {
        return splice(input, at, chance());
      }
    }
    return input;
  }

  private void limit(byte[] input, int at) {
    long value = LIMITS[random.nextInt(LIMITS.length)];
    int bytes = Math.min(1 << random.nextInt(4), input.length - at);
    for (int i = 0; i < bytes; i++) {
      input[at + i] = (byte) (value >>> (8 * (bytes - 1 - i)));
    }
  }

  private byte[] splice(byte[] head, int at, byte[] tail) {
    int from = tail.length == 0 ? 0 : random.nextInt(tail.length);
    byte[] both = Arrays.copyOf(head, at + tail.length - from);
    System.arraycopy(tail, from, both, at, tail.length - from);
    return both;
  }

  private byte[] chance() {
    byte[] bytes = new byte[random.nextInt(Math.min(longest, 200))];
    random.nextBytes(bytes);
    return bytes;
  }
}
