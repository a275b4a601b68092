package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Bytes of one end that the other end alone writes, over and over. */
final class SingleWriterRegister {
  final int at;

  /** What stands there once all writes that were posted are executed. */
  final byte[] latest = new byte[VerbsScenario.MAX_LENGTH];

  private final List<PostedRequest> unsure = new ArrayList<>();
  private boolean readUnfenced;

  SingleWriterRegister(int at) {
    this.at = at;
  }

  void begin(Arena arena) {
    arena.memory.get(at, latest, 0, latest.length);
  }

  /** Whether a write must wait for earlier reads, to leave them what they are to find. */
  boolean needsFence() {
    return readUnfenced;
  }

  void fenced() {
    readUnfenced = false;
  }

  byte[] read(int length) {
    readUnfenced = true;
    byte[] due = new byte[length];
    System.arraycopy(latest, 0, due, 0, length);
    return due;
  }

  void write(Arena arena, PostedRequest post, int sourceAt) {
    arena.memory.get(sourceAt, latest, 0, post.operation.length());
    unsure.add(post);
  }

  /** A write, and so all before it, is known to be done. */
  void done(Arena arena, PostedRequest post, SimulatedEndpoint writer) {
    while (!unsure.isEmpty() && unsure.contains(post)) {
      PostedRequest first = unsure.remove(0);
      arena.memory.get(
          writer.sourceAt(first.operation), arena.expected, at, first.operation.length());
    }
    check(arena, writer);
  }

  /** Whether the last write of each byte stands there. */
  boolean isLatest(Arena arena) {
    return ByteBuffer.wrap(latest).mismatch(arena.memory.slice(at, latest.length)) < 0;
  }

  /** Checks that each byte is the last one that is sure, or of a write behind it. */
  void check(Arena arena, SimulatedEndpoint writer) {
    if (arena.isAsExpected(at, VerbsScenario.MAX_LENGTH)) {
      return;
    }
    for (int i = 0; i < VerbsScenario.MAX_LENGTH; i++) {
      byte there = arena.memory.get(at + i);
      if (there != arena.expected[at + i] && !mayBe(arena, writer, i, there)) {
        throw new Violation("byte " + i + " of a register of the peer of " + writer + " is wrong");
      }
    }
  }

  private boolean mayBe(Arena arena, SimulatedEndpoint writer, int index, byte value) {
    // What was posted last most likely stands there.
    for (int i = unsure.size() - 1; i >= 0; i--) {
      PostedRequest post = unsure.get(i);
      if (index < post.operation.length()
          && arena.memory.get(writer.sourceAt(post.operation) + index) == value) {
        return true;
      }
    }
    return false;
  }

  /** After all is over: takes what is there for what is expected, once it is checked. */
  void settle(Arena arena, SimulatedEndpoint writer) {
    check(arena, writer);
    arena.memory.get(at, arena.expected, at, VerbsScenario.MAX_LENGTH);
  }
}
