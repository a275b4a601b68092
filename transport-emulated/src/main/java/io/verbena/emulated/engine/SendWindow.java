// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;

/**
 * The progress of the send queue, in requests and in PSNs.
 *
 * <pre>
 *  requests   freed .. | head .. cursor .. started | .. posted
 *                        oldest   sent      never
 *                        not done next      sent
 *  PSNs                unacknowledged .. sentEnd .. nextPsn
 *                        oldest not      highest    of the next
 *                        answered        sent + 1   request
 * </pre>
 *
 * The cursor goes back when packets are sent again. Each started request keeps its first PSN and
 * its number of packets; a request without packets, for instance a local operation, has 0 packets
 * and is done already.
 */
final class SendWindow {
  private static final int FEW = 4;

  private final SendRing ring;
  private final EngineHost host;

  /**
   * First PSNs by position. The length is a power of two, and grows with the number of requests
   * that are begun and not done.
   */
  private int[] firstPsns = new int[FEW];

  private int[] packetCounts = new int[FEW];

  long head;
  long started;
  long cursor;

  /** The number of packets of the cursor's request before the cursor. */
  int packet;

  int unacknowledged;
  int sentEnd;
  int nextPsn;

  /** The number of READs and atomics that are begun and not done. */
  int readsOutstanding;

  SendWindow(SendRing ring, EngineHost host) {
    this.ring = ring;
    this.host = host;
  }

  /** Drops all requests. */
  void clear() {
    head = ring.posted();
    startOver();
  }

  private void startOver() {
    started = head;
    cursor = head;
    packet = 0;
    readsOutstanding = 0;
    // A late answer must not be taken for an answer to a dropped request.
    startAt(nextPsn);
  }

  void startAt(int psn) {
    unacknowledged = psn;
    sentEnd = psn;
    nextPsn = psn;
  }

  SendWorkRequest request(long position) {
    return ring.request(position);
  }

  boolean hasNext() {
    return started < ring.posted();
  }

  int firstPsn(long position) {
    return firstPsns[slot(position)];
  }

  int packets(long position) {
    return packetCounts[slot(position)];
  }

  /** Returns whether all begun requests are done. */
  boolean isIdle() {
    return head == started;
  }

  /** Returns whether all begun requests that are not done are READs and atomics. */
  boolean awaitsReadsOnly() {
    return started - head == readsOutstanding;
  }

  /** Returns whether there are packets that the peer has not answered. */
  boolean awaitsAnswer() {
    return Psn.difference(sentEnd, unacknowledged) > 0;
  }

  /** Returns the PSN of the packet at the cursor, or of the next request's first packet. */
  int cursorPsn() {
    return cursor == started ? nextPsn : Psn.plus(firstPsn(cursor), packet);
  }

  /** Begins the next request, of {@code packets} packets; 0 for a request that is done already. */
  void begin(int packets) {
    if (started - head == firstPsns.length) {
      grow();
    }
    int slot = slot(started);
    firstPsns[slot] = nextPsn;
    packetCounts[slot] = packets;
    nextPsn = Psn.plus(nextPsn, packets);
    started++;
  }

  /** Moves the cursor past {@code packets} packets that were sent. */
  void sent(int packets) {
    int end = Psn.plus(cursorPsn(), packets);
    if (Psn.difference(end, sentEnd) > 0) {
      sentEnd = end;
    }
    packet += packets;
    if (packet == packets(cursor)) {
      skip();
    }
  }

  /** Moves the cursor to the next request. */
  void skip() {
    cursor++;
    packet = 0;
  }

  /** Moves the cursor to the oldest unacknowledged packet. */
  void goBack() {
    moveTo(unacknowledged);
  }

  /** Moves the cursor to an unacknowledged packet of a started request. */
  void moveTo(int psn) {
    cursor = head;
    packet = 0;
    while (cursor < started) {
      int ahead = Psn.difference(psn, firstPsn(cursor));
      if (ahead < packets(cursor)) {
        packet = Math.max(0, ahead);
        return;
      }
      cursor++;
    }
  }

  /** Moves the cursor forward if packets from it on were acknowledged in the meantime. */
  void catchUp() {
    if (cursor < head || Psn.difference(unacknowledged, cursorPsn()) > 0) {
      goBack();
    }
  }

  /** Completes the oldest request with success. */
  void completeHead() {
    SendWorkRequest request = ring.request(head);
    if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
      readsOutstanding--;
    }
    long position = head++;
    if ((request.flags() & SendWorkRequest.SIGNALED) != 0) {
      host.sendDone(
          position,
          request,
          RequestOpcodes.completion(request.opcode()),
          (int) Segments.length(request));
    }
  }

  /** Completes the oldest request with an error. */
  void failHead(CompletionStatus status) {
    SendWorkRequest request = ring.request(head);
    host.sendFailed(head++, request, status);
  }

  /** Completes all requests that are not done, as flushed. */
  void flush() {
    for (long end = ring.posted(); head < end; ) {
      failHead(CompletionStatus.WR_FLUSH_ERR);
    }
    // Does not include requests that were posted since: each post causes a flush of its own.
    startOver();
  }

  private void grow() {
    int[] psns = new int[2 * firstPsns.length];
    int[] counts = new int[psns.length];
    for (long position = head; position < started; position++) {
      int to = (int) position & (psns.length - 1);
      psns[to] = firstPsn(position);
      counts[to] = packets(position);
    }
    firstPsns = psns;
    packetCounts = counts;
  }

  private int slot(long position) {
    return (int) position & (firstPsns.length - 1);
  }
}
