// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import java.util.ArrayList;
import java.util.List;

/**
 * The memory of a message in several segments. Each is in a region of its own, so that they cannot
 * be used as one contiguous range.
 */
final class ScatteredMemory {
  private final List<TestMemory> segments = new ArrayList<>();

  /** Registers segments of these lengths and one for the rest, but no more than {@code most}. */
  ScatteredMemory(Endpoint end, int total, int most, int... lengths) {
    int left = total;
    for (int i = 0; i < lengths.length && i < most - 1; i++) {
      add(end, lengths[i]);
      left -= lengths[i];
    }
    add(end, left);
  }

  private void add(Endpoint end, int length) {
    segments.add(end.sink(Math.max(1, length)).part(0, length));
  }

  TestMemory[] all() {
    return segments.toArray(new TestMemory[0]);
  }

  /** Fills the segments with one continuous pattern. */
  ScatteredMemory fill(int seed) {
    int offset = 0;
    for (TestMemory segment : segments) {
      segment.fill(seed, offset);
      offset += segment.length();
    }
    return this;
  }

  void assertHold(int seed) {
    assertHold(seed, Integer.MAX_VALUE);
  }

  /** Asserts that the first {@code length} bytes hold the pattern and the others are untouched. */
  void assertHold(int seed, int length) {
    int offset = 0;
    for (TestMemory segment : segments) {
      int filled = Math.max(0, Math.min(segment.length(), length - offset));
      segment.part(0, filled).assertHolds(seed, offset);
      segment.part(filled, segment.length() - filled).assertUntouched();
      offset += segment.length();
    }
  }
}
