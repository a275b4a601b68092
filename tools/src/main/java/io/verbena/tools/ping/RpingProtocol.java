// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.ping;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of rping ({@code librdmacm/examples/rping.c} in rdma-core) over one connection, for
 * either end: advertisements of 16 bytes (address, rkey and size in network order). The server's
 * advertisements are empty and mean "go on".
 *
 * <pre>
 *   client                          server
 *   SEND advert of the source  ->
 *                              <-   READ of the source
 *                              <-   SEND "go on"
 *   SEND advert of the sink    ->
 *                              <-   WRITE into the sink
 *                              <-   SEND "go on"
 * </pre>
 */
final class RpingProtocol {
  /** The offset of the data in the memory of an end. */
  static final int DATA = 64;

  /** Sends, and receives, that an end may have posted at once. */
  static final int DEPTH = 4;

  private static final int ADVERT = 16;
  private static final int SEND = 0;
  private static final int RECEIVE = ADVERT;
  private static final long MOVED = 3;

  private final End end;
  private final QueuePair pair;
  private final ConnectionEventWait events;
  private final CompletionWait wait;
  private final WorkCompletion[] one = WorkCompletion.array(1);
  private boolean received;
  private boolean moved;
  private boolean ended;
  private int sending;

  /** Posts the first receive; before the connection is established. */
  RpingProtocol(End end, QueuePair pair, ConnectionEventWait events, CompletionWait wait) {
    this.end = end;
    this.pair = pair;
    this.events = events;
    this.wait = wait;
    postReceive();
  }

  private void postReceive() {
    pair.postReceive(
        new ReceiveWorkRequest().buffer(end.address(RECEIVE), ADVERT, end.region().lkey()));
  }

  private void post(SendWorkRequest request, int offset, int length) {
    pair.postSend(request.signaled().buffer(end.address(offset), length, end.region().lkey()));
  }

  /** Sends the peer the address and the key of a part of this end's memory. */
  void advertise(int offset, int length) throws InterruptedException, ToolFailure {
    while (sending > 0) {
      if (ended) {
        throw gone();
      }
      step();
    }
    end.memory()
        .putLong(SEND, end.address(offset))
        .putInt(SEND + 8, end.region().rkey())
        .putInt(SEND + 12, length);
    sending++;
    post(new SendWorkRequest().send(), SEND, ADVERT);
  }

  /** Sends "go on". */
  void goOn() throws InterruptedException, ToolFailure {
    advertise(0, 0);
  }

  /**
   * Waits for the peer's message.
   *
   * @return its 16 bytes, or null if the connection ended instead
   */
  @Nullable ByteBuffer awaitMessage() throws InterruptedException, ToolFailure {
    while (!received) {
      if (ended) {
        return null;
      }
      step();
    }
    received = false;
    byte[] message = new byte[ADVERT];
    end.memory().get(RECEIVE, message);
    postReceive();
    return ByteBuffer.wrap(message);
  }

  /** Waits for the peer's message; fails if the connection ends instead. */
  ByteBuffer message() throws InterruptedException, ToolFailure {
    ByteBuffer message = awaitMessage();
    if (message == null) {
      throw gone();
    }
    return message;
  }

  /** Reads the peer's advertised memory to {@link #DATA}, or writes it from there. */
  void move(SendWorkRequest request, int length) throws InterruptedException, ToolFailure {
    post(request.id(MOVED), DATA, length);
    while (!moved) {
      if (ended) {
        throw gone();
      }
      step();
    }
    moved = false;
  }

  private static ToolFailure gone() {
    return new ToolFailure(
        "the other end disconnected in the middle of a ping",
        "look at the output of the other end");
  }

  /** Returns whether the connection has ended, and its event was taken. */
  boolean isEnded() {
    return ended;
  }

  private void step() throws InterruptedException, ToolFailure {
    if (poll(end.sent())) {
      if (one[0].workRequestId() == MOVED) {
        moved = true;
      } else {
        sending--;
      }
    } else if (poll(end.received())) {
      if (one[0].byteLength() != ADVERT) {
        throw new ToolFailure(
            "Received bogus data, size " + one[0].byteLength() + " (expected: " + ADVERT + ")",
            "check that the other end is rping, or `verbena ping`");
      }
      received = true;
    } else if (wait.pause() && events.isDisconnected()) {
      ended = true;
    }
  }

  private boolean poll(CompletionQueue queue) throws ToolFailure {
    if (queue.poll(one) == 0) {
      return false;
    }
    wait.restart();
    if (one[0].status() == CompletionStatus.WR_FLUSH_ERR) {
      // The peer has disconnected: its event follows.
      return false;
    }
    End.check(one[0]);
    return true;
  }
}
