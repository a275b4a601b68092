package io.verbena.samples.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/** Asks for quotes. It knows nothing of what carries them. */
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

  /** One quote. */
  Quote get(String symbol, long number) {
    return ClientCalls.blockingUnaryCall(
        channel, QuoteMethods.GET, options(), new Query(symbol, number, 1));
  }

  /** As many quotes, which come while they are taken. */
  Iterator<Quote> watch(String symbol, long count) {
    return ClientCalls.blockingServerStreamingCall(
        channel, QuoteMethods.WATCH, options(), new Query(symbol, 0, count));
  }

  private CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(limit.toMillis(), TimeUnit.MILLISECONDS);
  }
}
