// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;
import org.jspecify.annotations.Nullable;

/**
 * The pending answers of a responder, in the order of the requests. Bounded: a responder without
 * room for another answer drops the request. Successive acknowledgements are merged into one.
 */
final class ReplyQueue {

  /** Kinds of answer. */
  enum Kind {
    ACK,
    NAK,
    ATOMIC,
    READ
  }

  /** One answer. */
  static final class Reply {
    Kind kind = Kind.ACK;
    int psn;
    int syndrome;
    int messageSequence;

    /** The value before an atomic. */
    long original;

    /** The rest of a READ that is not sent yet. */
    long address;

    int rkey;
    long left;

    /** True if a READ's next packet is the first of its message. */
    boolean first;

    /** True for the answer to a repeated READ. */
    boolean again;
  }

  /** Additional room for NAKs and answers to duplicates. */
  private static final int SPARE = 8;

  /** Entries are created when they are first used. */
  private @Nullable Reply[] replies = {};

  private int head;
  private int size;

  /**
   * Drops all answers, and makes room for {@code readsAndAtomics} READs and atomics with an ACK
   * after each.
   */
  void reset(int readsAndAtomics) {
    clear();
    resize(readsAndAtomics);
  }

  /**
   * Makes room for {@code readsAndAtomics} READs and atomics with an ACK after each, and at least
   * for the pending answers.
   */
  void resize(int readsAndAtomics) {
    int capacity = Math.max(size, 2 * readsAndAtomics + SPARE);
    if (replies.length != capacity) {
      @Nullable Reply[] resized = new @Nullable Reply[capacity];
      for (int i = 0; i < size; i++) {
        resized[i] = at(i);
      }
      replies = resized;
      head = 0;
    }
  }

  void clear() {
    head = 0;
    size = 0;
  }

  boolean isEmpty() {
    return size == 0;
  }

  boolean isFull() {
    return size == replies.length;
  }

  /** Returns the oldest answer. */
  Reply first() {
    return at(0);
  }

  /** Removes the oldest answer. */
  void remove() {
    size--;
    head = size == 0 || head + 1 == replies.length ? 0 : head + 1;
  }

  /** Adds an acknowledgement of everything up to {@code psn}. */
  void acknowledge(int psn, int syndrome, int messageSequence) {
    if (size > 0) {
      Reply last = at(size - 1);
      if (last.kind == Kind.ACK) {
        // After a duplicate, {@code psn} may be earlier than the last one.
        if (Psn.difference(psn, last.psn) > 0) {
          last.psn = psn;
        }
        last.messageSequence = messageSequence;
        return;
      }
    }
    add(Kind.ACK, psn, syndrome, messageSequence);
  }

  /** Adds an answer; the queue must not be {@linkplain #isFull full}. */
  Reply add(Kind kind, int psn, int syndrome, int messageSequence) {
    Reply reply = at(size++);
    reply.kind = kind;
    reply.psn = psn;
    reply.syndrome = syndrome;
    reply.messageSequence = messageSequence;
    return reply;
  }

  private Reply at(int index) {
    int sum = head + index;
    int at = sum < replies.length ? sum : sum - replies.length;
    Reply reply = replies[at];
    if (reply == null) {
      reply = new Reply();
      replies[at] = reply;
    }
    return reply;
  }
}
