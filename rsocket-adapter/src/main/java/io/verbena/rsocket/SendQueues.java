package io.verbena.rsocket;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The send queues of a transport's open connections: the frames that RSocket has sent and the peer
 * has given no credit for yet. Reading costs those who read, nobody else. Thread-safe.
 */
public final class SendQueues {
  private final long limit;
  private final Set<FrameQueue> open = ConcurrentHashMap.newKeySet();

  /**
   * @param limit the most bytes in each
   */
  SendQueues(long limit) {
    this.limit = limit;
  }

  /** A queue for another connection. */
  FrameQueue open() {
    FrameQueue queue = new FrameQueue(limit);
    open.add(queue);
    return queue;
  }

  /** Its connection is closed. */
  void close(FrameQueue queue) {
    open.remove(queue);
  }

  /** How many there are: one for each open connection. */
  public int count() {
    return open.size();
  }

  /** The bytes in all of them. */
  public long bytes() {
    long sum = 0;
    for (FrameQueue queue : open) {
      sum += queue.bytes();
    }
    return sum;
  }

  /** The bytes in the fullest; its connection fails when they pass {@link #limit}. */
  public long mostBytes() {
    long most = 0;
    for (FrameQueue queue : open) {
      most = Math.max(most, queue.bytes());
    }
    return most;
  }

  /** The most bytes that one may hold. */
  public long limit() {
    return limit;
  }
}
