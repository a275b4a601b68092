// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * Writes messages: the producer's half of the contract that {@link MessageCheck} checks. One
 * thread.
 */
public final class MessageSource {
  private final int size;
  private long sequence;

  public MessageSource(int size) {
    this.size = MessageContent.checkSize(size);
  }

  /** Returns the size of every message in bytes. */
  public int size() {
    return size;
  }

  /** Writes the whole of a buffer once, so that {@link #next} can turn it into any message. */
  public void prepare(MessageView message) {
    for (int index = 0; index < size; index += MessageContent.WORD) {
      message.putLong(index, MessageContent.word(0, index, size));
    }
  }

  /**
   * Turns a buffer that holds an earlier message, or was {@link #prepare prepared}, into the next
   * message.
   */
  public void next(MessageView message) {
    long next = ++sequence;
    int last = MessageContent.middleIndex(message.getLong(0), size);
    message.putLong(last, MessageContent.pattern(last));
    message.putLong(0, next);
    message.putLong(MessageContent.middleIndex(next, size), MessageContent.middle(next));
    message.putLong(size - MessageContent.WORD, MessageContent.tail(next));
  }

  /** Returns the next sequence number, for limits that move no other content. */
  public long next() {
    return ++sequence;
  }
}
