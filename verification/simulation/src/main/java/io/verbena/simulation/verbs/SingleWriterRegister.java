// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Memory of one endpoint that only its peer writes, repeatedly. */
final class SingleWriterRegister {
  final int at;

  /** The contents after all posted writes have been executed. */
  final byte[] latest;

  private final List<PostedRequest> uncompleted = new ArrayList<>();
  private boolean readUnfenced;

  SingleWriterRegister(int at, int length) {
    this.at = at;
    latest = new byte[length];
  }

  void initialize(Arena arena) {
    arena.memory.get(at, latest, 0, latest.length);
  }

  /** Returns whether a write needs a fence, so that earlier reads do not return its bytes. */
  boolean needsFence() {
    return readUnfenced;
  }

  void fenced() {
    readUnfenced = false;
  }

  byte[] read(int length) {
    readUnfenced = true;
    byte[] expected = new byte[length];
    System.arraycopy(latest, 0, expected, 0, length);
    return expected;
  }

  void write(Arena arena, PostedRequest post, int sourceAt) {
    arena.memory.get(sourceAt, latest, 0, post.operation.length());
    uncompleted.add(post);
  }

  /** Called when a write, and therefore every earlier one, has completed. */
  void completed(Arena arena, PostedRequest post, SimulatedEndpoint writer) {
    while (!uncompleted.isEmpty() && uncompleted.contains(post)) {
      PostedRequest first = uncompleted.remove(0);
      arena.memory.get(
          writer.sourceAt(first.operation), arena.expected, at, first.operation.length());
    }
    check(arena, writer);
  }

  /** Returns whether all posted writes have reached the memory. */
  boolean isLatest(Arena arena) {
    return ByteBuffer.wrap(latest).mismatch(arena.memory.slice(at, latest.length)) < 0;
  }

  /** Checks that each byte is that of the last completed write or of a later one. */
  void check(Arena arena, SimulatedEndpoint writer) {
    if (arena.isAsExpected(at, latest.length)) {
      return;
    }
    for (int i = 0; i < latest.length; i++) {
      byte actual = arena.memory.get(at + i);
      if (actual != arena.expected[at + i] && !isWrittenBy(arena, writer, i, actual)) {
        throw new Violation("byte " + i + " of a register of the peer of " + writer + " is wrong");
      }
    }
  }

  private boolean isWrittenBy(Arena arena, SimulatedEndpoint writer, int index, byte value) {
    // Begin with the latest write, the most likely one.
    for (int i = uncompleted.size() - 1; i >= 0; i--) {
      PostedRequest post = uncompleted.get(i);
      if (index < post.operation.length()
          && arena.memory.get(writer.sourceAt(post.operation) + index) == value) {
        return true;
      }
    }
    return false;
  }

  /** Checks the final contents and adopts them as expected. */
  void reconcile(Arena arena, SimulatedEndpoint writer) {
    check(arena, writer);
    arena.memory.get(at, arena.expected, at, latest.length);
  }
}
