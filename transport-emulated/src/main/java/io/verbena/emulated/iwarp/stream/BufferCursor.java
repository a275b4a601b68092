// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.verbs.ScatterGatherList;

/** A position in the buffers of a request or receive. */
final class BufferCursor {
  private int index;
  private int skip;

  /** Moves to the first byte. */
  void rewind() {
    index = 0;
    skip = 0;
  }

  /** Moves to the position of another cursor. */
  void moveTo(BufferCursor other) {
    index = other.index;
    skip = other.skip;
  }

  /**
   * Returns the number of bytes from here to the end of the current buffer, or of the next that is
   * not empty; 0 at the end of the list.
   */
  int piece(ScatterGatherList buffers) {
    while (index < buffers.size() && skip == buffers.length(index)) {
      index++;
      skip = 0;
    }
    return index < buffers.size() ? buffers.length(index) - skip : 0;
  }

  /** Returns the address of the position; for a piece that is not empty. */
  long address(ScatterGatherList buffers) {
    return buffers.address(index) + skip;
  }

  int key(ScatterGatherList buffers) {
    return buffers.lkey(index);
  }

  /** Shows the piece from here on, but at most {@code most} bytes. */
  boolean show(
      Placement placement,
      Placement.Use use,
      ScatterGatherList buffers,
      int most,
      MemoryView view) {
    int length = Math.min(piece(buffers), most);
    return placement.show(use, key(buffers), address(buffers), length, view);
  }

  /** Advances by {@code bytes}, which must not be more than the piece. */
  void advance(int bytes) {
    skip += bytes;
  }
}
