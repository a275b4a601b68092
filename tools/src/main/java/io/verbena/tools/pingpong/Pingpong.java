// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.tools.end.UnmanagedQueuePair;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Exchanges messages on one queue pair, or on several at once that share their receives. The client
 * marks each page of its messages, so that they can be validated; the server sends the received
 * messages back. All received messages land in one buffer, as in rdma-core's programs: with several
 * queue pairs every message has the same bytes. Allocates nothing during the exchange. One thread.
 */
final class Pingpong {
  private static final byte FILL = 0x7b;

  /** The byte that rdma-core's programs write and expect at the beginning of each page. */
  private static final byte MARK = 0;

  private static final int PAGE = 4096;
  private static final int POLL = 16;
  private static final int RECEIVE = 1;
  private static final int SEND = 2;

  private final End end;
  private final UnmanagedQueuePair[] pairs;
  private final int[] pending;
  private final int size;
  private final int depth;
  private final CompletionWait wait;
  private final int receiving;
  private final int came;
  private final ByteBuffer sentBytes;
  private final ByteBuffer cameBytes;
  private final SendWorkRequest send = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(POLL);
  private int posted;
  private boolean client;
  private boolean check;

  /**
   * @param pairs the queue pairs, each with a message under way
   * @param header bytes in front of the message in a receive
   * @param depth receives to post at a time
   */
  Pingpong(
      End end,
      List<UnmanagedQueuePair> pairs,
      int size,
      int header,
      int depth,
      CompletionWait wait) {
    this.end = end;
    this.pairs = pairs.toArray(new UnmanagedQueuePair[0]);
    pending = new int[pairs.size()];
    this.size = size;
    this.depth = depth;
    this.wait = wait;
    receiving = size;
    came = size + header;
    sentBytes = end.memory().slice(0, size);
    cameBytes = end.memory().slice(came, size);
  }

  /** Fills the messages and posts the receives; before the other end may send. */
  void prepare(boolean client, boolean check) {
    this.client = client;
    this.check = check;
    for (int i = 0; i < size; i++) {
      sentBytes.put(i, check && i % PAGE == 0 ? MARK : FILL);
    }
    refill();
  }

  private void refill() {
    receive
        .id(RECEIVE)
        .buffer(end.address(receiving), came - receiving + size, end.region().lkey());
    while (posted < depth) {
      pairs[0].postReceive(receive);
      posted++;
    }
  }

  /**
   * Exchanges the messages of a number of rounds, counted over all queue pairs.
   *
   * @return their duration in nanoseconds
   */
  long play(int rounds) throws ToolFailure, InterruptedException {
    int sent = 0;
    int received = 0;
    Arrays.fill(pending, RECEIVE);
    long begin = System.nanoTime();
    for (int i = 0; client && i < pairs.length; i++) {
      post(i, 0);
    }
    while (sent < rounds || received < rounds) {
      int sends = end.sent().poll(completions);
      for (int i = 0; i < sends; i++) {
        End.check(completions[i]);
        sent++;
        goOn(completions[i], SEND, sent, rounds);
      }
      int receives = end.received().poll(completions);
      for (int i = 0; i < receives; i++) {
        accept(completions[i], received++);
        goOn(completions[i], RECEIVE, sent, rounds);
      }
      if (sends + receives == 0) {
        wait.pause();
      } else {
        wait.restart();
      }
    }
    return System.nanoTime() - begin;
  }

  /** Sends the next message on a queue pair whose send and receive have completed. */
  private void goOn(WorkCompletion completion, int what, int sent, int rounds) {
    int at = 0;
    while (pairs[at].pair().number() != completion.queuePairNumber()) {
      at++;
    }
    pending[at] &= ~what;
    if (pending[at] == 0 && sent < rounds) {
      post(at, sent);
    }
  }

  private void post(int at, int round) {
    UnmanagedQueuePair pair = pairs[at];
    pending[at] = RECEIVE | SEND;
    if (client && check && pairs.length == 1) {
      // Each round differs, so that an echo of an earlier round is detected.
      for (int page = 0; page + Integer.BYTES < size; page += PAGE) {
        sentBytes.putInt(page + 1, round);
      }
    }
    int from = client ? 0 : came;
    send.send().id(SEND).signaled().buffer(end.address(from), size, end.region().lkey());
    pair.pair().postSend(pair.addressed(send));
  }

  private void accept(WorkCompletion completion, int round) throws ToolFailure {
    if (completion.status() == CompletionStatus.WR_FLUSH_ERR) {
      checkSends();
    }
    End.check(completion);
    int length = completion.byteLength() - (came - receiving);
    if (length != size) {
      throw new ToolFailure(
          "received " + length + " bytes (expected: " + size + ")", "give both ends the same -s");
    }
    if (check) {
      validate(round);
    }
    if (--posted <= pairs.length) {
      refill();
    }
  }

  /**
   * Polls the sends again: the send that caused the flush of a receive may have completed since the
   * last poll.
   */
  private void checkSends() throws ToolFailure {
    WorkCompletion[] causes = WorkCompletion.array(POLL);
    int sends = end.sent().poll(causes);
    for (int i = 0; i < sends; i++) {
      End.check(causes[i]);
    }
  }

  private void validate(int round) throws ToolFailure {
    if (client) {
      int at = cameBytes.mismatch(sentBytes);
      if (at >= 0) {
        throw invalid(at, round, "sent", sentBytes.get(at));
      }
      return;
    }
    for (int page = 0; page < size; page += PAGE) {
      if (cameBytes.get(page) != MARK) {
        throw invalid(page, round, "mark", MARK);
      }
    }
  }

  private ToolFailure invalid(int at, int round, String what, byte expected) {
    return new ToolFailure(
        "invalid data in page "
            + at / PAGE
            + ", byte "
            + at
            + " of message "
            + round
            + ": "
            + (cameBytes.get(at) & 0xff)
            + " (expected: "
            + (expected & 0xff)
            + ", as "
            + what
            + ")",
        client
            ? "check that the other end is a pingpong: it sends back what it got"
            : "give the client --chk too: without it, it writes no marks");
  }
}
