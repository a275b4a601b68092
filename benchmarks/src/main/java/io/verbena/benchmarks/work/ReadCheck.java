// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Chooses the next slot to read and checks the bytes read. For one thread. */
public final class ReadCheck {
  private static final int WHOLE_EVERY = 1024;
  private static final int SAMPLES = 2;

  private final int size;
  private final int slots;
  private int next;
  private int reads;

  public ReadCheck(ReadLayout layout) {
    this.size = layout.size();
    this.slots = layout.slots();
  }

  /** Returns the next slot to read; the first slot follows the last one. */
  public int nextSlot() {
    int slot = next;
    next = slot + 1 == slots ? 0 : slot + 1;
    return slot;
  }

  /**
   * Checks the bytes that were read from {@code slot}.
   *
   * @throws DataCheckFailed if the bytes differ from those of the slot
   */
  public void accept(int slot, MessageView local) {
    expect(slot, 0, local);
    expect(slot, size - MessageContent.WORD, local);
    expect(slot, MessageContent.middleIndex(slot, size), local);
    for (int n = 0; n < SAMPLES; n++) {
      expect(slot, MessageContent.sampleIndex(slot + reads, n, size), local);
    }
    if (++reads % WHOLE_EVERY == 0) {
      for (int index = 0; index < size; index += MessageContent.WORD) {
        expect(slot, index, local);
      }
    }
  }

  private void expect(int slot, int index, MessageView local) {
    long word = local.getLong(index);
    long expected = MessageContent.word(slot, index, size);
    if (word != expected) {
      throw new DataCheckFailed("slot", slot, index, word, expected);
    }
  }
}
