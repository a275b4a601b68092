// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import static java.util.Objects.requireNonNull;

import io.verbena.RdmaTransport;
import io.verbena.meters.Meters;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The send queues of a transport's open connections. They hold the frames that RSocket has sent and
 * for which the peer has given no credit yet. Reading these numbers does not slow senders down.
 * Thread-safe.
 */
public final class SendQueues {
  private final long limit;
  private final Meters meters;
  private final String provider;
  private final Map<FrameQueue, Meters.Watch> open = new ConcurrentHashMap<>();

  /**
   * @param meters watch the queues
   * @param provider the scheme of the connections' addresses
   * @param limit the most bytes in each queue
   */
  SendQueues(Meters meters, String provider, long limit) {
    this.meters = meters;
    this.provider = provider;
    this.limit = limit;
  }

  /** Returns the queues for connections of this transport to or from this address. */
  static SendQueues of(URI address, RdmaTransport transport, long limit) {
    String scheme = requireNonNull(address, "address").getScheme();
    Meters meters = requireNonNull(transport, "transport").options().meters();
    return new SendQueues(meters, String.valueOf(scheme).toLowerCase(Locale.ROOT), limit);
  }

  /** Opens the queue of a connection. */
  FrameQueue open() {
    FrameQueue queue = new FrameQueue(limit);
    open.put(queue, meters.watch("rsocket", provider, queue));
    return queue;
  }

  /** Closes the queue of a closed connection. */
  void close(FrameQueue queue) {
    Meters.Watch watch = open.remove(queue);
    if (watch != null) {
      watch.close();
    }
  }

  /** Returns the number of queues: one for each open connection. */
  public int count() {
    return open.size();
  }

  /** Returns the bytes in all queues. */
  public long bytes() {
    long sum = 0;
    for (FrameQueue queue : open.keySet()) {
      sum += queue.bytes();
    }
    return sum;
  }

  /**
   * Returns the bytes in the fullest queue; its connection fails if they would exceed {@link
   * #limit}.
   */
  public long mostBytes() {
    long most = 0;
    for (FrameQueue queue : open.keySet()) {
      most = Math.max(most, queue.bytes());
    }
    return most;
  }

  /** Returns the most bytes that a queue may hold. */
  public long limit() {
    return limit;
  }
}
