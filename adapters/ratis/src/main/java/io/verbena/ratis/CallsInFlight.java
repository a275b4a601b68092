// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.jspecify.annotations.Nullable;

/** The calls of a connection that have not ended, by number. Thread-safe. */
final class CallsInFlight {
  private final String name;
  private final int most;
  private final OrderedStreams streams;
  private final Map<Long, Call> calls = new ConcurrentHashMap<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong numbers = new AtomicLong();
  private volatile @Nullable IOException closed;

  /**
   * @param name names the caller and the peer, for messages
   * @param most the most calls in flight
   * @param streams the streams of the ordered requests
   */
  CallsInFlight(String name, int most, OrderedStreams streams) {
    this.name = name;
    this.most = most;
    this.streams = streams;
  }

  /**
   * Adds a call and returns its number; it ends by {@link #ended}, {@link #fail}, {@link #expire}
   * or {@link #close}.
   *
   * @throws ResourceUnavailableException if there are too many
   * @throws IOException the reason of {@link #close}, if that was called
   */
  long add(Call call) throws IOException {
    if (count.incrementAndGet() > most) {
      count.decrementAndGet();
      throw new ResourceUnavailableException(
          name
              + ": calls in flight: "
              + most
              + " (expected: < "
              + most
              + ", "
              + VerbenaConfigKeys.OUTSTANDING_CALLS_MAX_KEY
              + ")");
    }
    long number = numbers.incrementAndGet();
    calls.put(number, call);
    IOException why = closed;
    if (why != null && remove(number) != null) {
      throw why;
    }
    return number;
  }

  private @Nullable Call remove(long number) {
    Call call = calls.remove(number);
    if (call != null) {
      count.decrementAndGet();
    }
    return call;
  }

  /** Returns whether the call of this number has not ended. */
  boolean isInFlight(long number) {
    return calls.containsKey(number);
  }

  /**
   * Ends the call that a message replies to; ignores one that has ended already, by its deadline.
   */
  void ended(ByteBuf message) {
    Call call = remove(CallLayout.call(message));
    if (call != null) {
      call.ended(message);
    }
  }

  /** Fails a call, if it has not ended. */
  void fail(long number, IOException why) {
    Call call = remove(number);
    if (call != null) {
      call.fail(why);
    }
  }

  /** Fails the calls whose deadline has passed, and with an ordered call its stream. */
  void expire() {
    long now = System.nanoTime();
    calls.forEach(
        (number, call) -> {
          if (now - call.deadline() >= 0) {
            IOException why =
                new TimeoutIOException(
                    name + ": no reply to " + call.operation() + " within its time");
            if (call.operation() == Operation.ORDERED) {
              // Before the call fails, so that no later request is sent once its message is
              // removed.
              streams.fail(call.stream());
              failStreams(why);
            } else {
              fail(number, why);
            }
          }
        });
  }

  /** Fails the calls of streams that have failed. */
  private void failStreams(IOException why) {
    calls.forEach(
        (number, call) -> {
          if (call.operation() == Operation.ORDERED && streams.hasFailed(call.stream())) {
            fail(number, why);
          }
        });
  }

  /** Fails all calls, and takes no more. */
  void close(IOException why) {
    closed = why;
    calls.keySet().forEach(number -> fail(number, why));
  }
}
