// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests the results of atomics with and without masks. */
class AtomicRequestTest {
  private static final int ROUNDS = 2000;

  private final SplittableRandom random = new SplittableRandom(11);

  /** Compares with the addition bit by bit of RFC 7306, section 5.1.1. */
  @Test
  void addsToEachFieldOfTheMask() {
    for (int round = 0; round < ROUNDS; round++) {
      long original = random.nextLong();
      long addend = random.nextLong();
      long mask = round % 2 == 0 ? random.nextLong() : 1L << random.nextInt(64);
      long sum = 0;
      int carry = 0;
      for (int bit = 0; bit < Long.SIZE; bit++) {
        int ones = carry + (int) (original >>> bit & 1) + (int) (addend >>> bit & 1);
        sum |= (long) (ones & 1) << bit;
        carry = (mask >>> bit & 1) == 0 ? ones >> 1 : 0;
      }

      assertThat(request(AtomicOperation.FETCH_ADD, addend, mask, 0, 0).after(original))
          .as("%x + %x, mask %x", original, addend, mask)
          .isEqualTo(sum);
    }
  }

  @Test
  void addsToAllBitsWithoutAMaskOrWithTheLast() {
    AtomicRequest without = request(AtomicOperation.FETCH_ADD, -7, 0, 0, 0);
    AtomicRequest last = request(AtomicOperation.FETCH_ADD, -7, Long.MIN_VALUE, 0, 0);

    assertThat(without.isPlain()).isTrue();
    assertThat(last.isPlain()).isTrue();
    assertThat(without.after(5)).isEqualTo(-2);
    assertThat(last.after(5)).isEqualTo(-2);
    assertThat(request(AtomicOperation.FETCH_ADD, -7, 1L << 31, 0, 0).isPlain()).isFalse();
  }

  @Test
  void swapsTheBitsOfOneMaskIfThoseOfTheOtherAreAsExpected() {
    AtomicRequest request =
        request(AtomicOperation.COMPARE_SWAP, 0xaaaa_aaaaL, 0xffffL, 0x1200_0000L, 0xff00_0000L);

    assertThat(request.isPlain()).isFalse();
    assertThat(request.after(0x1234_5678L)).isEqualTo(0x1234_aaaaL);
    assertThat(request.after(0x1334_5678L)).isEqualTo(0x1334_5678L);
  }

  @Test
  void swapsAllBitsWithFullMasks() {
    AtomicRequest request = new AtomicRequest().compareAndSwap(1, 2, 8, 5, 6);

    assertThat(request.isPlain()).isTrue();
    assertThat(request.after(5)).isEqualTo(6);
    assertThat(request.after(7)).isEqualTo(7);
  }

  private static AtomicRequest request(
      AtomicOperation operation, long data, long mask, long compare, long compareMask) {
    ByteBuffer bytes = ByteBuffer.allocate(FpduLayout.ATOMIC_REQUEST_LENGTH);
    bytes.putInt(operation.code).putInt(1).putInt(2).putLong(8);
    bytes.putLong(data).putLong(mask).putLong(compare).putLong(compareMask);
    AtomicRequest request = new AtomicRequest();
    request.parse(bytes, 0);
    return request;
  }
}
