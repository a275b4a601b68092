// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaTransport;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * A program that sends numbered requests to {@link EchoServer}s, several at a time. When a server
 * is lost, it connects to the next one and repeats the requests in flight. Ends with an error on an
 * unexpected answer, or if no server can be reached.
 */
public final class ReconnectingClient {
  /** The maximum number of requests in flight. */
  static final int WINDOW = 16;

  /**
   * Precedes the host and port at which the last of another {@link #STEP} requests was answered.
   */
  static final String PROGRESS = "more answered by ";

  static final String ANSWERED = " answered, each once; asked again: ";

  static final String LOST = "lost: ";

  private static final int STEP = 500;
  private static final int MORE = 500;
  private static final int RETRIES = 100;
  private static final Duration RETRY_DELAY = Duration.ofMillis(100);

  /**
   * A message without a request: a client that only waits for answers has nothing outstanding, and
   * would not detect a dead server.
   */
  private static final long PULSE = -1;

  private static final Duration PULSE_PERIOD = Duration.ofMillis(100);

  private final RdmaTransport transport = Counts.countingTransport();
  private final Set<Long> inFlight = new LinkedHashSet<>();
  private final List<URI> servers;
  private final int losses;
  private int connects;
  private int lost;
  private long asked;
  private long answered;
  private long askedAgain;
  private long last = Long.MAX_VALUE;

  private ReconnectingClient(int losses, List<URI> servers) {
    this.losses = losses;
    this.servers = servers;
  }

  /** Runs the program: the number of connections to lose before it ends, and the servers' URIs. */
  public static void main(String[] args) {
    new ReconnectingClient(
            Integer.parseInt(args[0]), Stream.of(args).skip(1).map(URI::create).toList())
        .run();
    System.exit(0);
  }

  private void run() {
    Mono.defer(() -> connected(servers.get(connects++ % servers.size())))
        .retryWhen(Retry.fixedDelay(RETRIES, RETRY_DELAY).filter(RdmaException.class::isInstance))
        .block();
    System.out.println(answered + ANSWERED + askedAgain);
  }

  private Mono<Void> connected(URI server) {
    return Mono.usingWhen(
        transport.connect(server),
        connection -> ask(connection, server).doOnError(this::lost),
        RdmaConnection::close,
        (connection, why) -> Mono.fromRunnable(connection::dispose),
        connection -> Mono.fromRunnable(connection::dispose));
  }

  private void lost(Throwable why) {
    System.out.println(LOST + why);
    lost++;
    if (lost == losses) {
      last = asked + MORE;
    }
  }

  /** Sends the requests in flight and new ones; completes when all are answered. */
  private Mono<Void> ask(RdmaConnection connection, URI server) {
    Sinks.Many<Long> requests = Sinks.many().unicast().onBackpressureBuffer();
    askedAgain += inFlight.size();
    inFlight.forEach(requests::tryEmitNext);
    while (inFlight.size() < WINDOW && asked < last) {
      askNext(requests);
    }
    Sinks.Empty<Void> end = Sinks.empty();
    Flux<Long> pulses = Flux.interval(PULSE_PERIOD).onBackpressureDrop().map(tick -> PULSE);
    // Each number has a send of its own, so that no failure cancels another send: each is counted.
    Mono<Void> sends =
        requests
            .asFlux()
            .mergeWith(pulses.takeUntilOther(end.asMono()))
            .flatMap(
                number ->
                    connection
                        .send(Mono.just(message(connection, number)))
                        .onErrorResume(
                            RdmaException.class, why -> Mono.fromRunnable(connection::dispose)),
                WINDOW + 1)
            .then();
    Mono<Void> answers =
        connection
            .receive()
            .doOnNext(
                answer -> {
                  if (take(answer, server) && asked < last) {
                    askNext(requests);
                  }
                })
            .takeUntil(answer -> inFlight.isEmpty())
            .then(Mono.defer(() -> inFlight.isEmpty() ? Mono.<Void>empty() : closed(connection)))
            .doFinally(
                signal -> {
                  requests.tryEmitComplete();
                  end.tryEmitEmpty();
                });
    return Mono.whenDelayError(sends, answers);
  }

  private void askNext(Sinks.Many<Long> requests) {
    inFlight.add(asked);
    requests.tryEmitNext(asked++);
  }

  private static ByteBuf message(RdmaConnection connection, long number) {
    return connection.memory().allocator().buffer(Long.BYTES, Long.BYTES).writeLong(number);
  }

  /** Returns whether {@code answer} belongs to a request. */
  private boolean take(ByteBuf answer, URI server) {
    long number = answer.readLong();
    answer.release();
    if (number == PULSE) {
      return false;
    }
    if (!inFlight.remove(number)) {
      throw new IllegalStateException("answer " + number + " (expected: one of " + inFlight + ")");
    }
    answered++;
    if (answered % STEP == 0) {
      System.out.println(PROGRESS + server.getAuthority());
    }
    return true;
  }

  private static Mono<Void> closed(RdmaConnection connection) {
    return Mono.error(
        new ConnectionClosedException(
            "receive", connection.peer(), null, "the server closed it", null));
  }
}
