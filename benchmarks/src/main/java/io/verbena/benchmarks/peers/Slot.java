// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.verbena.benchmarks.work.ByteBufferView;
import io.verbena.benchmarks.work.DirectMemory;
import io.verbena.benchmarks.work.MessageSource;
import java.nio.ByteBuffer;

/** The place of a message in memory that two threads share; a queue passes it on. */
final class Slot {
  final int offset;
  final ByteBufferView view;

  private Slot(ByteBuffer memory, int offset) {
    this.offset = offset;
    this.view = new ByteBufferView(memory, offset);
  }

  /** Returns a direct buffer for {@code slots} messages. */
  static ByteBuffer memory(int size, int slots) {
    return DirectMemory.allocate(Math.multiplyExact(size, slots));
  }

  /** Returns all slots of a buffer, prepared. */
  static Slot[] slots(ByteBuffer memory, int size, int slots) {
    MessageSource source = new MessageSource(size);
    Slot[] all = new Slot[slots];
    for (int i = 0; i < slots; i++) {
      all[i] = new Slot(memory, i * size);
      source.prepare(all[i].view);
    }
    return all;
  }
}
