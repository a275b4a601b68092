// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * Checks messages: order, length, the three marks and two sampled words of each, and every word of
 * one in {@value #WHOLE_EVERY}. For one thread.
 */
public final class MessageCheck {
  private static final int WHOLE_EVERY = 1024;
  private static final int SAMPLES = 2;

  private final int size;
  private long sequence;

  public MessageCheck(int size) {
    this.size = MessageContent.checkSize(size);
  }

  /**
   * Checks the next message.
   *
   * @throws DataCheckFailed if the message is out of order or damaged
   */
  public void accept(MessageView message, int length) {
    long expected = ++sequence;
    if (length != size) {
      throw new DataCheckFailed("length", expected, 0, length, size);
    }
    expect(message, 0, expected);
    expect(message, size - MessageContent.WORD, MessageContent.tail(expected));
    int middle = MessageContent.middleIndex(expected, size);
    expect(message, middle, MessageContent.middle(expected));
    for (int n = 0; n < SAMPLES; n++) {
      int index = MessageContent.sampleIndex(expected, n, size);
      if (index != middle) {
        expect(message, index, MessageContent.pattern(index));
      }
    }
    if (expected % WHOLE_EVERY == 0) {
      whole(message);
    }
  }

  /** Checks a sequence number without a message. */
  public void accept(long received) {
    long expected = ++sequence;
    if (received != expected) {
      throw new DataCheckFailed("sequence", expected, 0, received, expected);
    }
  }

  /** Checks every word of the message that was accepted last. */
  public void whole(MessageView message) {
    for (int index = 0; index < size; index += MessageContent.WORD) {
      expect(message, index, MessageContent.word(sequence, index, size));
    }
  }

  private void expect(MessageView message, int index, long expected) {
    long word = message.getLong(index);
    if (word != expected) {
      throw new DataCheckFailed("word", sequence, index, word, expected);
    }
  }
}
