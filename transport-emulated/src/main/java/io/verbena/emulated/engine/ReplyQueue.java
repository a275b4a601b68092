// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * The answers that a responder owes, in the order of the requests. Bounded: a responder without
 * room for another answer drops the request. Acknowledgements that follow each other become one.
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

    /** What an atomic found. */
    long original;

    /** What is left of a READ. */
    long address;

    int rkey;
    long left;

    /** Whether a READ's next packet is the first of its message. */
    boolean first;

    /** Whether it answers a READ that came again. */
    boolean again;
  }

  /** Besides READs and atomics and an ACK after each: NAKs, and answers to duplicates. */
  private static final int SPARE = 8;

  private Reply[] replies = new Reply[0];
  private int head;
  private int size;

  /** Makes room for the answers of {@code readsAndAtomics} at once, and forgets all. */
  void reset(int readsAndAtomics) {
    int capacity = 2 * readsAndAtomics + SPARE;
    if (replies.length != capacity) {
      replies = new Reply[capacity];
      for (int i = 0; i < capacity; i++) {
        replies[i] = new Reply();
      }
    }
    clear();
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

  /** The oldest answer. */
  Reply first() {
    return replies[head];
  }

  /** Forgets the oldest answer. */
  void remove() {
    head = head + 1 == replies.length ? 0 : head + 1;
    size--;
  }

  /** Adds an acknowledgement of everything up to {@code psn}. */
  void acknowledge(int psn, int syndrome, int messageSequence) {
    if (size > 0) {
      Reply last = at(size - 1);
      if (last.kind == Kind.ACK) {
        // After a duplicate it may be an earlier one.
        if (Psn.difference(psn, last.psn) > 0) {
          last.psn = psn;
        }
        last.messageSequence = messageSequence;
        return;
      }
    }
    add(Kind.ACK, psn, syndrome, messageSequence);
  }

  /** Adds an answer; there is room. */
  Reply add(Kind kind, int psn, int syndrome, int messageSequence) {
    Reply reply = at(size++);
    reply.kind = kind;
    reply.psn = psn;
    reply.syndrome = syndrome;
    reply.messageSequence = messageSequence;
    return reply;
  }

  private Reply at(int index) {
    int at = head + index;
    return replies[at < replies.length ? at : at - replies.length];
  }
}
