package io.verbena.simulation.scenario;

import io.verbena.emulated.wire.FlightPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Memory that runs use, one after the other: what is registered, and what ought to be in it. */
public final class Arena {
  private static final int CAPACITY = 1 << 21;
  private static final int PAGE = 4096;

  /** All of it. */
  public final ByteBuffer memory =
      ByteBuffer.allocateDirect(CAPACITY + PAGE).alignedSlice(PAGE).order(ByteOrder.nativeOrder());

  /** What ought to be in it. */
  public final byte[] expected = new byte[CAPACITY];

  /** Frames for one wire after the other. */
  public final FlightPool flights = new FlightPool();

  private final byte[] pattern = new byte[CAPACITY];
  private int used;

  /** Memory for one run after the other. */
  public Arena() {
    new SplittableRandom(1).nextBytes(pattern);
  }

  /** Gives all memory back. */
  public void clear() {
    used = 0;
  }

  /** Takes the next bytes, from a multiple of 64 on, with gaps of canaries between all takers. */
  public int take(int length) {
    int at = used;
    used = (at + length + 127) & -64;
    if (used > CAPACITY) {
      throw new IllegalStateException("memory: " + used + " (expected: <= " + CAPACITY + ")");
    }
    return at;
  }

  /** Fills all that was taken, canaries too, with what nothing else is alike. */
  public void fill() {
    memory.put(0, pattern, 0, used);
    System.arraycopy(pattern, 0, expected, 0, used);
  }

  /** Where memory first differs from what is expected; -1 if it does not. */
  public int mismatch() {
    return ByteBuffer.wrap(expected, 0, used).mismatch(memory.slice(0, used));
  }

  /** Whether this many bytes are what is expected. */
  public boolean isAsExpected(int at, int length) {
    return ByteBuffer.wrap(expected, at, length).mismatch(memory.slice(at, length)) < 0;
  }

  /** Expects eight bytes. */
  public void expectLong(int at, long value) {
    ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder()).putLong(at, value);
  }
}
