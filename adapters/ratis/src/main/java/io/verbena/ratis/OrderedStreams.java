// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.util.function.IntPredicate;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;

/**
 * The streams of ordered requests on one connection. Ratis numbers the requests of a window, and
 * leaves their order to the transport. As in Ratis's gRPC, a stream begins with a request that
 * Ratis marks as first, because all before it have their replies, and continues only with the next
 * number. Thread-safe.
 */
final class OrderedStreams {
  /**
   * The position in a window of Ratis's client, which has one for the leader and one for each
   * server.
   */
  private static final class Window {
    private int stream = -1;
    private long next;
  }

  private final Window leader = new Window();
  private final Window server = new Window();
  private int begun;

  /** The newest stream that has failed; all before it have failed, too. */
  private volatile int failed = -1;

  /**
   * Sends a request in its stream.
   *
   * @param send sends the request in the given stream, and returns whether it did
   * @return whether the request has a stream; if not, Ratis may be about to send a request before
   *     it again
   */
  synchronized boolean send(RaftRpcRequestProto request, IntPredicate send) {
    Window window = request.getToLeader() ? leader : server;
    SlidingWindowEntry entry = request.getSlidingWindowEntry();
    long number = entry.getSeqNum();
    if (entry.getIsFirst() || number == 0) {
      window.stream = begun++;
      window.next = number;
    }
    if (number != window.next || hasFailed(window.stream)) {
      return false;
    }
    if (send.test(window.stream)) {
      window.next++;
    }
    return true;
  }

  /**
   * Fails a stream, because one of its requests will not be sent, or its reply is not awaited any
   * more.
   */
  synchronized void fail(int stream) {
    failed = Math.max(failed, stream);
  }

  /** Returns whether a stream has failed, so that nothing of it may be sent any more. */
  boolean hasFailed(int stream) {
    return stream <= failed;
  }
}
