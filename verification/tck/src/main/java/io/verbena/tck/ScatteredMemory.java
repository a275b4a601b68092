package io.verbena.tck;

import io.verbena.verbs.Access;
import java.util.ArrayList;
import java.util.List;

/**
 * A message in pieces, each in a region of its own: whoever takes them for one stretch of memory
 * goes astray.
 */
final class ScatteredMemory {
  private final List<TestMemory> pieces = new ArrayList<>();

  /** Pieces of these lengths and one for the rest, but no more than {@code most}. */
  ScatteredMemory(Endpoint end, int total, int most, int... lengths) {
    int left = total;
    for (int i = 0; i < lengths.length && i < most - 1; i++) {
      add(end, lengths[i]);
      left -= lengths[i];
    }
    add(end, left);
  }

  private void add(Endpoint end, int length) {
    pieces.add(end.memory(Math.max(1, length), Access.LOCAL_WRITE).part(0, length));
  }

  TestMemory[] all() {
    return pieces.toArray(new TestMemory[0]);
  }

  /** Fills the pieces as one memory would be filled. */
  ScatteredMemory fill(int seed) {
    int offset = 0;
    for (TestMemory piece : pieces) {
      piece.fill(seed, offset);
      offset += piece.length();
    }
    return this;
  }

  void assertHold(int seed) {
    assertHold(seed, Integer.MAX_VALUE);
  }

  /** Asserts that the first {@code length} bytes hold the pattern, and the others nothing. */
  void assertHold(int seed, int length) {
    int offset = 0;
    for (TestMemory piece : pieces) {
      int filled = Math.max(0, Math.min(piece.length(), length - offset));
      piece.part(0, filled).assertHolds(seed, offset);
      piece.part(filled, piece.length() - filled).assertUntouched();
      offset += piece.length();
    }
  }
}
