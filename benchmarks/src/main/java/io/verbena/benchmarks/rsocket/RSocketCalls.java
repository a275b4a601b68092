// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.util.EmptyPayload;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.UnaryCalls;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * Request-response calls, a fixed number outstanding at once. The end of a call makes the next one,
 * on the thread that delivers the responses. An empty request precedes each batch, so that the
 * first calls are made on that thread, too.
 *
 * <p>All these transports keep the order of requests and of responses, so that one sequence of
 * numbers each way checks all of them.
 */
public final class RSocketCalls implements UnaryCalls {
  private final Responder responder;
  private final RSocketPair pair;
  private final Payloads payloads;
  private final MessageSource source;
  private final MessageCheck check;
  private final Outstanding[] idle;
  private int idleCount;
  private long made;
  private long toBegin;
  private long toEnd;
  private boolean beginning;
  private CompletableFuture<Void> done = new CompletableFuture<>();

  public RSocketCalls(RSocketTransport transport, int outstanding, int size) {
    responder = new Responder(size);
    pair = new RSocketPair(transport, responder);
    payloads = new Payloads(size);
    source = new MessageSource(size);
    check = new MessageCheck(size);
    idle = new Outstanding[outstanding];
    for (int i = 0; i < outstanding; i++) {
      idle[idleCount++] = new Outstanding();
    }
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    pair.client()
        .requestResponse(EmptyPayload.INSTANCE)
        .subscribe(
            empty -> {
              empty.release();
              begin(calls, ended);
            },
            ended::completeExceptionally);
    deadline.await(ended);
  }

  private void begin(long calls, CompletableFuture<Void> ended) {
    done = ended;
    toBegin = calls;
    toEnd = calls;
    beginCalls();
  }

  /**
   * Begins calls up to the limit. Returns at once if it is already running, as when a transport
   * without threads ends a call within this method.
   */
  private void beginCalls() {
    if (beginning) {
      return;
    }
    beginning = true;
    while (idleCount > 0 && toBegin > 0) {
      toBegin--;
      Outstanding next = idle[--idleCount];
      next.number = ++made;
      pair.client().requestResponse(payloads.next(source)).subscribe(next);
    }
    beginning = false;
  }

  private void ended(Outstanding call) {
    idle[idleCount++] = call;
    if (--toEnd == 0) {
      done.complete(null);
    } else {
      beginCalls();
    }
  }

  private void failed(Throwable cause) {
    Throwable atServer = responder.failure.get();
    done.completeExceptionally(atServer == null ? cause : atServer);
  }

  @Override
  public void close() {
    pair.close();
    payloads.release();
    responder.payloads.release();
  }

  private final class Outstanding implements CoreSubscriber<Payload> {
    private long number;

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Payload response) {
      try {
        long answered = payloads.accept(response, check).getLong(0);
        if (answered != number) {
          failed(
              new IllegalStateException("response: " + answered + " (expected: " + number + ")"));
        }
      } catch (RuntimeException e) {
        failed(e);
      } finally {
        response.release();
      }
    }

    @Override
    public void onError(Throwable cause) {
      failed(cause);
    }

    @Override
    public void onComplete() {
      ended(this);
    }
  }

  private static final class Responder implements RSocket {
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final Payloads payloads;
    private final MessageSource source;
    private final MessageCheck check;

    private Responder(int size) {
      payloads = new Payloads(size);
      source = new MessageSource(size);
      check = new MessageCheck(size);
    }

    @Override
    public Mono<Payload> requestResponse(Payload request) {
      try {
        if (!request.data().isReadable()) {
          return Mono.just(EmptyPayload.INSTANCE);
        }
        payloads.accept(request, check);
      } catch (RuntimeException e) {
        // RSocket would pass only the message to its client.
        failure.compareAndSet(null, e);
        throw e;
      } finally {
        request.release();
      }
      return Mono.just(payloads.next(source));
    }
  }
}
