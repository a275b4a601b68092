// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/** Asks for quotes, over any transport. */
final class QuoteClient {
  private final Channel channel;
  private final Duration limit;

  /**
   * @param limit the deadline of a call
   */
  QuoteClient(Channel channel, Duration limit) {
    this.channel = channel;
    this.limit = limit;
  }

  /** Asks for one quote. */
  Quote get(String symbol, long number) {
    return ClientCalls.blockingUnaryCall(
        channel, QuoteMethods.GET, options(), new Query(symbol, number, 1));
  }

  /** Asks for a stream of quotes, sent at the pace at which the caller takes them. */
  Iterator<Quote> watch(String symbol, long count) {
    return ClientCalls.blockingServerStreamingCall(
        channel, QuoteMethods.WATCH, options(), new Query(symbol, 0, count));
  }

  private CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(limit.toMillis(), TimeUnit.MILLISECONDS);
  }
}
