// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import io.verbena.emulated.wire.FlightPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * The memory that simulations register, with the contents that their models expect. Successive
 * simulations reuse it.
 */
public final class Arena {
  private static final int CAPACITY = 1 << 21;
  private static final int PAGE = 4096;
  private static final byte[] PATTERN = new byte[CAPACITY];

  static {
    new SplittableRandom(1).nextBytes(PATTERN);
  }

  /** The registered memory. */
  public final ByteBuffer memory =
      ByteBuffer.allocateDirect(CAPACITY + PAGE).alignedSlice(PAGE).order(ByteOrder.nativeOrder());

  /** The expected contents of {@link #memory}. */
  public final byte[] expected = new byte[CAPACITY];

  /** The pool of frames for the simulated wires. */
  public final FlightPool flights = new FlightPool();

  /** The other memory that a run allocates outside the heap. */
  public final RecycledMemory buffers = new RecycledMemory();

  private int used;

  /** Creates an arena with nothing allocated. */
  public Arena() {}

  /** Frees all allocations. */
  public void clear() {
    used = 0;
    buffers.recycle();
  }

  /**
   * Allocates {@code length} bytes at the next multiple of 64. Canary bytes separate the
   * allocations.
   *
   * @return the offset of the allocation
   */
  public int allocate(int length) {
    int at = used;
    used = (at + length + 127) & -64;
    if (used > CAPACITY) {
      throw new IllegalStateException("memory: " + used + " (expected: <= " + CAPACITY + ")");
    }
    return at;
  }

  /** Fills all allocations and the canary bytes between them with a pseudorandom pattern. */
  public void fillWithPattern() {
    memory.put(0, PATTERN, 0, used);
    System.arraycopy(PATTERN, 0, expected, 0, used);
  }

  /** Returns the offset of the first byte that differs from the expected one, or -1. */
  public int mismatch() {
    return ByteBuffer.wrap(expected, 0, used).mismatch(memory.slice(0, used));
  }

  /** Returns whether {@code length} bytes from {@code at} on have their expected values. */
  public boolean isAsExpected(int at, int length) {
    return ByteBuffer.wrap(expected, at, length).mismatch(memory.slice(at, length)) < 0;
  }

  /** Sets the expected value of the eight bytes at {@code at}. */
  public void expectLong(int at, long value) {
    ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder()).putLong(at, value);
  }
}
