// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.rsocket;

import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.util.EmptyPayload;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.SynchronousSink;

/** A request-stream call, whose client keeps a window of requested items. */
public final class RSocketStream implements OneWay {
  /** The number of items that were requested and have not arrived. */
  private static final int WINDOW = 1024;

  private final Payloads outgoing;
  private final Payloads incoming;
  private final RSocketPair pair;
  private MessageSource source;
  private long left;

  public RSocketStream(RSocketTransport transport, int size) {
    outgoing = new Payloads(size);
    incoming = new Payloads(size);
    source = new MessageSource(size);
    pair = new RSocketPair(transport, new Responder());
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    this.source = source;
    this.left = messages;
    Consumer consumer = new Consumer(check, messages);
    pair.client().requestStream(EmptyPayload.INSTANCE).subscribe(consumer);
    deadline.await(consumer.done);
  }

  private void generate(SynchronousSink<Payload> sink) {
    if (left == 0) {
      sink.complete();
    } else {
      left--;
      sink.next(outgoing.next(source));
    }
  }

  @Override
  public void close() {
    pair.close();
    outgoing.release();
    incoming.release();
  }

  private final class Responder implements RSocket {
    @Override
    public Flux<Payload> requestStream(Payload request) {
      request.release();
      return Flux.generate(RSocketStream.this::generate);
    }
  }

  private final class Consumer implements CoreSubscriber<Payload> {
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final MessageCheck check;
    private final long messages;
    private Subscription subscription;
    private long taken;

    private Consumer(MessageCheck check, long messages) {
      this.check = check;
      this.messages = messages;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      this.subscription = subscription;
      subscription.request(WINDOW);
    }

    @Override
    public void onNext(Payload item) {
      try {
        ByteBufView view = incoming.accept(item, check);
        if (++taken == messages) {
          check.whole(view);
        }
      } catch (RuntimeException e) {
        done.completeExceptionally(e);
      } finally {
        item.release();
      }
      if (taken % (WINDOW / 2) == 0) {
        subscription.request(WINDOW / 2);
      }
    }

    @Override
    public void onError(Throwable cause) {
      done.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      if (taken == messages) {
        done.complete(null);
      } else {
        done.completeExceptionally(
            new IllegalStateException("items: " + taken + " (expected: " + messages + ")"));
      }
    }
  }
}
