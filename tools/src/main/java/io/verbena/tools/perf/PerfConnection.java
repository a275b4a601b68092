// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.TestQueuePair;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connected end with its queue pairs, and the steps of every test: posting its operation, posting
 * receives, and waiting. Allocates nothing once a test has begun. One thread.
 *
 * <pre>
 *   memory:  sent or fetched bytes | received bytes
 * </pre>
 */
final class PerfConnection {
  private static final int POLL = 64;

  private final End end;
  private final List<? extends TestQueuePair> pairs;
  private final PerfPlan plan;
  private final PerftestExchange exchange;
  private final List<PerftestAddress> peers;
  private final @Nullable ReceiveCredits credits;
  private final CompletionWait wait;
  private final int coming;
  private final int header;
  private final SendWorkRequest request = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.array(POLL);
  private int size;
  private @Nullable ByteBuffer inline;
  private boolean begun;

  /**
   * @param peers of the queue pairs, in their order
   * @param coming the offset of received bytes in the memory
   * @param header bytes in front of the message in a receive
   * @param credits for messages, or null if these wait for receives
   */
  PerfConnection(
      End end,
      List<? extends TestQueuePair> pairs,
      PerfPlan plan,
      PerftestExchange exchange,
      List<PerftestAddress> peers,
      int coming,
      int header,
      @Nullable ReceiveCredits credits) {
    this.end = end;
    this.pairs = pairs;
    this.plan = plan;
    this.exchange = exchange;
    this.peers = peers;
    this.coming = coming;
    this.header = header;
    this.credits = credits;
    wait = new CompletionWait(end, plan.limit());
  }

  PerfPlan plan() {
    return plan;
  }

  int size() {
    return size;
  }

  WorkCompletion[] completions() {
    return completions;
  }

  /** Sets the size of the messages that are posted from now on. */
  void size(int bytes) {
    size = bytes;
    begun = false;
    if (credits != null) {
      credits.reset();
    }
    boolean fits = plan.inline() >= bytes && !plan.verb().isFetch();
    inline = fits ? end.memory().slice(0, bytes) : null;
  }

  /** Returns whether one may be posted behind so many of this size on a queue pair. */
  boolean mayPost(int index, long posted) {
    return credits == null || credits.allows(index, posted);
  }

  /** Posts the operation of the test on a queue pair. */
  void post(int index, long id, boolean signaled) {
    TestQueuePair pair = pairs.get(index);
    SendWorkRequest next = operation(pair, peers.get(index)).id(id);
    ByteBuffer data = inline;
    if (data != null) {
      next.inline(data);
    } else {
      next.buffer(end.address(0), size, end.region().lkey());
    }
    if (signaled) {
      next.signaled();
    }
    pair.pair().postSend(next);
  }

  private SendWorkRequest operation(TestQueuePair pair, PerftestAddress peer) {
    long memory = peer.memory();
    int key = peer.rkey();
    return switch (plan.verb()) {
      case SEND -> pair.addressed(request.send());
      case WRITE -> request.write(memory, key);
      case READ -> request.read(memory, key);
      case ATOMIC ->
          plan.atomic() == AtomicType.FETCH_AND_ADD
              ? request.fetchAndAdd(memory, key, 1)
              : request.compareAndSwap(memory, key, 0, 1);
    };
  }

  /** Posts all receives, each for the largest message. */
  void postReceives() {
    receive.buffer(end.address(coming), header + plan.size(), end.region().lkey());
    for (int i = 0; i < pairs.size() * plan.rxDepth(); i++) {
      postReceive(i % pairs.size());
    }
  }

  /** Posts the receives again that the last poll has completed. */
  void repostReceives(int count) {
    for (int i = 0; i < count; i++) {
      int index = (int) completions[i].workRequestId();
      postReceive(index);
      if (credits != null) {
        credits.received(index);
      }
    }
    if (credits != null) {
      credits.give();
    }
  }

  private void postReceive(int index) {
    pairs.get(index).postReceive(receive.id(index));
  }

  /** Polls completions of sends and checks them. */
  int pollSent() throws ToolFailure {
    int count = poll(end.sent());
    return credits == null ? count : withoutCredits(credits, count);
  }

  /** Moves the completions of sends to the front of those polled; returns how many. */
  private int withoutCredits(ReceiveCredits given, int count) {
    int sends = 0;
    for (int i = 0; i < count; i++) {
      WorkCompletion each = completions[i];
      if (!given.isGiven(each.workRequestId())) {
        completions[i] = completions[sends];
        completions[sends++] = each;
      }
    }
    given.give();
    return sends;
  }

  /** Polls for completed credits, at an end that only receives. */
  void pollCredits() throws ToolFailure {
    if (credits != null) {
      int unused = pollSent();
    }
  }

  /** Waits until all credits that were given have completed. */
  void awaitCredits() throws ToolFailure, InterruptedException {
    while (credits != null && credits.areUnderWay()) {
      if (pollSent() == 0) {
        wait.pause();
      }
    }
  }

  /** Polls completions of receives and checks them and their sizes. */
  int pollReceived() throws ToolFailure {
    int count = poll(end.received());
    for (int i = 0; i < count; i++) {
      int bytes = completions[i].byteLength() - header;
      if (bytes != size) {
        throw new ToolFailure(
            "received " + bytes + " bytes (expected: " + size + ")", "give both ends the same -s");
      }
    }
    begun |= count > 0;
    return count;
  }

  private int poll(CompletionQueue queue) throws ToolFailure {
    int count = queue.poll(completions);
    for (int i = 0; i < count; i++) {
      End.check(completions[i]);
    }
    if (count > 0) {
      wait.restart();
    }
    return count;
  }

  /** Records that a message was found in the memory. */
  void seen() {
    begun = true;
    wait.restart();
  }

  /**
   * Waits for a moment. At intervals the server checks for a message of the client on TCP.
   *
   * @return whether the client has ended this test, or all tests
   */
  boolean isOver(boolean client) throws ToolFailure, IOException, InterruptedException {
    if (!wait.pause() || client || !exchange.isSpokenTo()) {
      return false;
    }
    // Until the first message it says that it is ready.
    return exchange.answer() || begun;
  }

  /** Waits for the completion of one send. */
  void awaitSent() throws ToolFailure, InterruptedException {
    while (pollSent() == 0) {
      wait.pause();
    }
  }

  /** The offset of received bytes in the memory. */
  int coming() {
    return coming;
  }

  ByteBuffer memory() {
    return end.memory();
  }
}
