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
 * The send queues of a transport's open connections: the frames that RSocket has sent and the peer
 * has given no credit for yet. Only readers pay for reading. Thread-safe.
 */
public final class SendQueues {
  private final long limit;
  private final Meters meters;
  private final String provider;
  private final Map<FrameQueue, Meters.Watch> open = new ConcurrentHashMap<>();

  /**
   * @param meters watch them
   * @param provider the scheme of the connections' addresses
   * @param limit the most bytes in each
   */
  SendQueues(Meters meters, String provider, long limit) {
    this.meters = meters;
    this.provider = provider;
    this.limit = limit;
  }

  /** For connections of this transport to or from this address. */
  static SendQueues of(URI address, RdmaTransport transport, long limit) {
    String scheme = requireNonNull(address, "address").getScheme();
    Meters meters = requireNonNull(transport, "transport").options().meters();
    return new SendQueues(meters, String.valueOf(scheme).toLowerCase(Locale.ROOT), limit);
  }

  /** A queue for another connection. */
  FrameQueue open() {
    FrameQueue queue = new FrameQueue(limit);
    open.put(queue, meters.watch("rsocket", provider, queue));
    return queue;
  }

  /** Its connection is closed. */
  void close(FrameQueue queue) {
    Meters.Watch watch = open.remove(queue);
    if (watch != null) {
      watch.close();
    }
  }

  /** Returns how many there are: one for each open connection. */
  public int count() {
    return open.size();
  }

  /** The bytes in all of them. */
  public long bytes() {
    long sum = 0;
    for (FrameQueue queue : open.keySet()) {
      sum += queue.bytes();
    }
    return sum;
  }

  /** The bytes in the fullest; its connection fails when they pass {@link #limit}. */
  public long mostBytes() {
    long most = 0;
    for (FrameQueue queue : open.keySet()) {
      most = Math.max(most, queue.bytes());
    }
    return most;
  }

  /** The most bytes that one may hold. */
  public long limit() {
    return limit;
  }
}
