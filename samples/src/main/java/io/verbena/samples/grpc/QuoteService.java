// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.Iterator;
import java.util.Set;
import java.util.stream.LongStream;

/** Answers with quotes, over any transport. Thread-safe. */
final class QuoteService implements BindableService {
  private final Set<String> symbols;

  QuoteService(Set<String> symbols) {
    this.symbols = Set.copyOf(symbols);
  }

  @Override
  public ServerServiceDefinition bindService() {
    return ServerServiceDefinition.builder(QuoteMethods.SERVICE)
        .addMethod(QuoteMethods.GET, ServerCalls.asyncUnaryCall(this::get))
        .addMethod(QuoteMethods.WATCH, ServerCalls.asyncServerStreamingCall(this::watch))
        .build();
  }

  private void get(Query query, StreamObserver<Quote> answers) {
    if (isKnown(query, answers)) {
      answers.onNext(Quote.of(query.symbol(), query.from()));
      answers.onCompleted();
    }
  }

  private void watch(Query query, StreamObserver<Quote> answers) {
    if (isKnown(query, answers)) {
      Iterator<Quote> quotes =
          LongStream.range(query.from(), query.from() + query.count())
              .mapToObj(number -> Quote.of(query.symbol(), number))
              .iterator();
      send(quotes, (ServerCallStreamObserver<Quote>) answers);
    }
  }

  /** Sends at the pace at which the client takes them; a call that has ended is never ready. */
  private static void send(Iterator<Quote> quotes, ServerCallStreamObserver<Quote> call) {
    call.setOnCancelHandler(() -> {});
    call.setOnReadyHandler(
        () -> {
          while (call.isReady()) {
            if (quotes.hasNext()) {
              call.onNext(quotes.next());
            } else {
              call.onCompleted();
            }
          }
        });
  }

  private boolean isKnown(Query query, StreamObserver<Quote> answers) {
    boolean known = symbols.contains(query.symbol());
    if (!known) {
      answers.onError(Status.NOT_FOUND.withDescription(query.symbol()).asException());
    }
    return known;
  }
}
