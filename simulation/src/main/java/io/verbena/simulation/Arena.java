package io.verbena.simulation;

import io.verbena.emulated.wire.FlightPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Memory that runs use, one after the other: what is registered, and what ought to be in it. */
final class Arena {
  private static final int CAPACITY = 1 << 21;
  private static final int PAGE = 4096;

  final ByteBuffer memory =
      ByteBuffer.allocateDirect(CAPACITY + PAGE).alignedSlice(PAGE).order(ByteOrder.nativeOrder());
  final byte[] expected = new byte[CAPACITY];
  final FlightPool flights = new FlightPool();
  private final byte[] pattern = new byte[CAPACITY];
  private int used;

  Arena() {
    new SplittableRandom(1).nextBytes(pattern);
  }

  /** Gives all memory back. */
  void clear() {
    used = 0;
  }

  /** Takes the next bytes, from a multiple of 64 on, with gaps of canaries between all takers. */
  int take(int length) {
    int at = used;
    used = (at + length + 127) & -64;
    if (used > CAPACITY) {
      throw new IllegalStateException("memory: " + used + " (expected: <= " + CAPACITY + ")");
    }
    return at;
  }

  /** Fills all that was taken, canaries too, with what nothing else is alike. */
  void fill() {
    memory.put(0, pattern, 0, used);
    System.arraycopy(pattern, 0, expected, 0, used);
  }

  int used() {
    return used;
  }

  /** Where memory first differs from what is expected; -1 if it does not. */
  int mismatch() {
    return ByteBuffer.wrap(expected, 0, used).mismatch(memory.slice(0, used));
  }

  boolean isAsExpected(int at, int length) {
    return ByteBuffer.wrap(expected, at, length).mismatch(memory.slice(at, length)) < 0;
  }

  void expectLong(int at, long value) {
    ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder()).putLong(at, value);
  }
}
