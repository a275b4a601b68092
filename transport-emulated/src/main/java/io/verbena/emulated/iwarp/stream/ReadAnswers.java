// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.ReadRequest;

/** READs of the peer that are not answered yet, in the order in which they came. */
final class ReadAnswers {
  private final Answer[] ring;
  private int first;
  private int count;

  /** A READ, and how far it is answered. */
  static final class Answer {
    int sinkTag;
    long sinkOffset;
    int sourceTag;
    long sourceOffset;
    long left;
  }

  ReadAnswers(int depth) {
    ring = new Answer[depth];
    for (int i = 0; i < depth; i++) {
      ring[i] = new Answer();
    }
  }

  /** Adds a READ; false if there are as many as this end serves at once. */
  boolean add(ReadRequest request) {
    if (count == ring.length) {
      return false;
    }
    Answer answer = ring[(first + count) % ring.length];
    answer.sinkTag = request.sinkTag();
    answer.sinkOffset = request.sinkOffset();
    answer.sourceTag = request.sourceTag();
    answer.sourceOffset = request.sourceOffset();
    answer.left = request.length();
    count++;
    return true;
  }

  boolean isEmpty() {
    return count == 0;
  }

  Answer oldest() {
    return ring[first];
  }

  void removeOldest() {
    first = (first + 1) % ring.length;
    count--;
  }
}
