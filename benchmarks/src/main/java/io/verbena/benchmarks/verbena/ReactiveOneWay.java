// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
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

/** {@code Flux} to {@code Flux}, one way, both loops polling. */
public final class ReactiveOneWay implements OneWay {
  private final ReactivePair pair;
  private final MessageBuffers buffers;
  private final MessageBuffers.Writer write = this::write;
  private final Consumer consumer;
  private MessageSource source;
  private long left;

  /** Connects with default options, except for polling loops. */
  public ReactiveOneWay(int size) {
    this(size, RdmaOptions.defaults());
  }

  public ReactiveOneWay(int size, RdmaOptions options) {
    pair = new ReactivePair(options, PollMode.BUSY, PollMode.BUSY);
    source = new MessageSource(size);
    buffers = new MessageBuffers(size, pair.client().memory().allocator());
    consumer = new Consumer(size);
    pair.server().receive().subscribe(consumer);
  }

  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    this.source = source;
    this.left = messages;
    CompletableFuture<Void> received = consumer.begin(messages, check);
    CompletableFuture<Void> sent =
        pair.client().send(Flux.<ByteBuf>generate(this::generate)).toFuture();
    // A failed send also fails the transfer, as its messages are never received.
    sent.exceptionally(
        failure -> {
          received.completeExceptionally(failure);
          return null;
        });
    deadline.await(received);
    deadline.await(sent);
  }

  private void generate(SynchronousSink<ByteBuf> sink) {
    if (left == 0) {
      sink.complete();
      return;
    }
    left--;
    sink.next(buffers.write(write));
  }

  private void write(ByteBufView message) {
    source.next(message);
  }

  @Override
  public void close() {
    buffers.release();
    pair.close();
  }

  private static final class Consumer implements CoreSubscriber<ByteBuf> {
    private final ByteBufView view = new ByteBufView();
    private MessageCheck check;
    private CompletableFuture<Void> done = new CompletableFuture<>();
    private long left;

    private Consumer(int size) {
      check = new MessageCheck(size);
    }

    private CompletableFuture<Void> begin(long messages, MessageCheck check) {
      this.check = check;
      this.left = messages;
      this.done = new CompletableFuture<>();
      return done;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuf message) {
      try {
        check.accept(view.wrap(message), message.readableBytes());
        if (--left == 0) {
          check.whole(view);
          done.complete(null);
        }
      } catch (RuntimeException e) {
        done.completeExceptionally(e);
      } finally {
        message.release();
      }
    }

    @Override
    public void onError(Throwable failure) {
      done.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
      done.completeExceptionally(new IllegalStateException("stream: ended"));
    }
  }
}
