// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The progress of each running stream of a server. Thread-safe. The demo, which runs both ends,
 * compares it with the subscriber's demand.
 */
final class StreamLog {
  /** {@link #sent} of a stream that has ended. */
  static final int ENDED = -1;

  private final AtomicInteger numbers = new AtomicInteger();
  private final ConcurrentMap<Integer, AtomicInteger> running = new ConcurrentHashMap<>();

  /** Messages that the server has passed to the transport, or {@link #ENDED}. */
  int sent(int stream) {
    AtomicInteger sent = running.get(stream);
    return sent == null ? ENDED : sent.get();
  }

  /** Begins a stream; returns its number. */
  int begin() {
    int stream = numbers.incrementAndGet();
    running.put(stream, new AtomicInteger());
    return stream;
  }

  void count(int stream) {
    AtomicInteger sent = running.get(stream);
    if (sent != null) {
      sent.incrementAndGet();
    }
  }

  void end(int stream) {
    running.remove(stream);
  }
}
