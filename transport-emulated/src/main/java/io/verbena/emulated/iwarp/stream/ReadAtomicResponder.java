// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.AccessResult;
import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.AtomicRequest;
import io.verbena.emulated.iwarp.frame.AtomicResponse;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.RdmapOpcode;
import io.verbena.emulated.iwarp.frame.ReadRequest;
import io.verbena.emulated.iwarp.stream.Placement.Use;

/**
 * ReadAtomicResponder the peer's READs and atomics, in the order in which they came (RFC 7306,
 * section 5.4). An atomic is executed after the READs before it, whose bytes have left the memory
 * by then, and before the READs behind it. If threads of the program keep writing to the same word,
 * the atomic is tried again in another turn.
 */
final class ReadAtomicResponder {
  /** Stands for no atomic. */
  private static final AtomicRequest NO_ATOMIC = new AtomicRequest();

  private final FpduWriter writer;
  private final RemoteAtomic atomic;
  private final FpduHeader header = new FpduHeader();
  private Answer[] ring = new Answer[0];
  private int first;
  private int count;

  /** The position in the stream at which the last answer to a READ ends. */
  private long readsEnd;

  private int responseNumber;

  /** True if an atomic is held up in this turn. */
  private boolean isHeldUp;

  /** A READ, and the part of it to answer; or an atomic. */
  private static final class Answer {
    int sinkTag;
    long sinkOffset;
    int sourceTag;
    long sourceOffset;
    long left;
    boolean isAtomic;

    /** Created for the first atomic in this place of the ring, and kept. */
    AtomicRequest atomic = NO_ATOMIC;
  }

  ReadAtomicResponder(EngineHost host, FpduWriter writer) {
    this.writer = writer;
    atomic = new RemoteAtomic(host);
  }

  /** Begins a stream. */
  void start(int depth) {
    ring = new Answer[depth];
    for (int i = 0; i < depth; i++) {
      ring[i] = new Answer();
    }
    first = 0;
    count = 0;
    readsEnd = 0;
    responseNumber = 0;
    isHeldUp = false;
  }

  /**
   * Adds a READ to answer; returns false if this end has as many requests as it serves at a time.
   */
  boolean add(ReadRequest request) {
    if (count == ring.length) {
      return false;
    }
    Answer answer = ring[(first + count) % ring.length];
    answer.isAtomic = false;
    answer.sinkTag = request.sinkTag();
    answer.sinkOffset = request.sinkOffset();
    answer.sourceTag = request.sourceTag();
    answer.sourceOffset = request.sourceOffset();
    answer.left = request.length();
    count++;
    return true;
  }

  /**
   * Adds an atomic to answer; returns false if this end has as many requests as it serves at a
   * time.
   */
  boolean add(AtomicRequest request) {
    if (count == ring.length) {
      return false;
    }
    Answer answer = ring[(first + count) % ring.length];
    answer.isAtomic = true;
    if (answer.atomic == NO_ATOMIC) {
      answer.atomic = new AtomicRequest();
    }
    answer.atomic.copyFrom(request);
    count++;
    return true;
  }

  /** Begins a turn. */
  void beginTurn() {
    isHeldUp = false;
  }

  /** Returns whether an atomic is to be tried again in another turn. */
  boolean areHeldUp() {
    return isHeldUp;
  }

  /** Returns whether a request waits for its answer, and may be answered now. */
  boolean areDue() {
    return count > 0 && !isHeldUp && (!ring[first].isAtomic || writer.written() >= readsEnd);
  }

  /**
   * Adds the answer to the oldest request, or a part of it, to the output; nothing if an atomic is
   * held up.
   *
   * @return false if the memory of the request may no longer be used
   */
  boolean addNext() {
    Answer answer = ring[first];
    return answer.isAtomic ? addResponse(answer.atomic) : addRead(answer);
  }

  private boolean addRead(Answer answer) {
    int length = (int) Math.min(answer.left, Outbound.MOST_PAYLOAD);
    boolean last = length == answer.left;
    writer.begin(
        header.tagged(RdmapOpcode.READ_RESPONSE, last, answer.sinkTag, answer.sinkOffset, length));
    if (length > 0 && !writer.payload(Use.READ, answer.sourceTag, answer.sourceOffset, length)) {
      writer.takeBack();
      return false;
    }
    writer.end(header);
    readsEnd = writer.added();
    if (last) {
      removeFirst();
    } else {
      answer.sinkOffset += length;
      answer.sourceOffset += length;
      answer.left -= length;
    }
    return true;
  }

  private boolean addResponse(AtomicRequest request) {
    AccessResult outcome = atomic.execute(request);
    isHeldUp = outcome == null;
    if (outcome != AccessResult.GRANTED) {
      return isHeldUp;
    }
    responseNumber++;
    writer.begin(
        header.untagged(
            RdmapOpcode.ATOMIC_RESPONSE,
            true,
            0,
            responseNumber,
            0,
            FpduLayout.ATOMIC_RESPONSE_LENGTH));
    int at = writer.own().position();
    AtomicResponse.write(writer.own(), request.identifier(), atomic.original());
    writer.payloadFrom(at);
    writer.end(header);
    removeFirst();
    return true;
  }

  private void removeFirst() {
    first = (first + 1) % ring.length;
    count--;
  }
}
