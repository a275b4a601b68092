// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.util.function.IntPredicate;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;

/**
 * The streams of ordered requests on one connection. Ratis numbers the requests of a window, and
 * leaves their order to who sends them, as its gRPC does: a stream begins with a request that Ratis
 * marks as first, as all before it have their replies, and goes on with the next number alone.
 * Thread-safe.
 */
final class OrderedStreams {
  /**
   * Where a window of Ratis's client stands; it has one for the leader, and one for each server.
   */
  private static final class Window {
    private int stream = -1;
    private long next;
  }

  private final Window leader = new Window();
  private final Window server = new Window();
  private int begun;

  /** The newest stream that has failed; those before it have, too. */
  private volatile int failed = -1;

  /**
   * Sends a request in its stream.
   *
   * @param send sends it in the stream that it is given, and returns whether it did
   * @return whether it has a stream: if not, a request before it may be on its way to be sent again
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

  /** Fails a stream, of which a request is not sent, or not waited for, any more. */
  synchronized void fail(int stream) {
    failed = Math.max(failed, stream);
  }

  /** Returns whether nothing of this stream may be sent any more. */
  boolean hasFailed(int stream) {
    return stream <= failed;
  }
}
