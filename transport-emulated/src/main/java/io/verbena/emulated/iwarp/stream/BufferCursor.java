// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.verbs.ScatterGatherList;

/** A place in the buffers of a request or receive. */
final class BufferCursor {
  private int index;
  private int skip;

  /** Goes to the first byte. */
  void rewind() {
    index = 0;
    skip = 0;
  }

  /** Goes where another one is. */
  void moveTo(BufferCursor other) {
    index = other.index;
    skip = other.skip;
  }

  /** Bytes from here to the end of a buffer, where there is one with any; else 0. */
  int piece(ScatterGatherList buffers) {
    while (index < buffers.size() && skip == buffers.length(index)) {
      index++;
      skip = 0;
    }
    return index < buffers.size() ? buffers.length(index) - skip : 0;
  }

  /** Where it is; for a piece that is not empty. */
  long address(ScatterGatherList buffers) {
    return buffers.address(index) + skip;
  }

  int key(ScatterGatherList buffers) {
    return buffers.lkey(index);
  }

  /** Shows the piece from here on, or as much of it as is asked for. */
  boolean show(
      Placement placement,
      Placement.Use use,
      ScatterGatherList buffers,
      int most,
      MemoryView view) {
    int length = Math.min(piece(buffers), most);
    return placement.show(use, key(buffers), address(buffers), length, view);
  }

  /** Goes on by no more than the piece. */
  void advance(int bytes) {
    skip += bytes;
  }
}
