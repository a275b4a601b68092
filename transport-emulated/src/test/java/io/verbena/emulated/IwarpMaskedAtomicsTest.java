// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static io.verbena.emulated.ForeignFpdus.ATOMIC_REQUEST;
import static io.verbena.emulated.ForeignPeer.EXTENDED_REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePair;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests masked atomics (RFC 7306, section 5), for which processors have no instruction. */
@Tag("once")
class IwarpMaskedAtomicsTest {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final int ROUNDS = 2000;
  private static final long UPPER_ONE = 1L << 32;

  /** Mask of two 32-bit fields: the highest bit of the lower field. */
  private static final String FIELDS = "0000000080000000";

  /** Length of an FPDU with an atomic response. */
  private static final int RESPONSE_BYTES = 36;

  /** No addition is lost, and neither the peer nor the thread starves. */
  @Test
  void addToOneFieldWhileAThreadOfTheProgramAddsToAnother() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    try (ForeignClient peer = new ForeignClient()) {
      QueuePair unused = peer.established(EXTENDED_REQUEST);
      Caller caller = peer.caller;
      CompletableFuture<Long> added =
          CompletableFuture.supplyAsync(() -> addUntil(over, caller.bytes));

      try {
        for (int number = 1; number <= ROUNDS; number++) {
          peer.write(addOne(number, caller.region.rkey(), caller.region.address()));
          assertThat(peer.read(RESPONSE_BYTES)).startsWith("001e" + "414b");
        }
      } finally {
        over.set(true);
      }

      long upper = added.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat((long) LONG.getVolatile(caller.bytes, 0)).isEqualTo(upper * UPPER_ONE + ROUNDS);
    }
  }

  private static long addUntil(AtomicBoolean over, ByteBuffer word) {
    long count = 0;
    while (!over.get()) {
      long unused = (long) LONG.getAndAdd(word, 0, UPPER_ONE);
      count++;
    }
    return count;
  }

  private static String addOne(int number, int key, long address) {
    HexFormat hex = HexFormat.of();
    return ForeignFpdus.request(
        ATOMIC_REQUEST,
        number,
        "00000000"
            + hex.toHexDigits(number)
            + hex.toHexDigits(key)
            + hex.toHexDigits(address)
            + hex.toHexDigits(1L)
            + FIELDS
            + "00".repeat(16));
  }
}
