// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * The messages of a connection that wait for the peer's credits, in the order in which they were
 * offered. Any thread offers; one thread at a time hands on, as far as the subscriber has asked:
 * who offers, or who asks. What it holds is bounded by the calls in flight at this end or at the
 * other.
 */
final class SendQueue implements Publisher<ByteBuf>, Subscription {
  private static final AtomicLongFieldUpdater<SendQueue> REQUESTED =
      AtomicLongFieldUpdater.newUpdater(SendQueue.class, "requested");
  private static final int CHUNK = 64;

  private final Queue<ByteBuf> messages = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
  private final AtomicInteger passes = new AtomicInteger();
  private volatile boolean closed;
  private volatile long requested;
  private volatile @Nullable Subscriber<? super ByteBuf> actual;

  // Only in a pass.
  private long emitted;

  /** Takes a message over; once closed, releases it and returns false. */
  boolean offer(ByteBuf message) {
    if (closed) {
      message.release();
      return false;
    }
    messages.add(message);
    drain();
    return true;
  }

  /** Takes no more and releases what it holds. Idempotent. */
  void close() {
    closed = true;
    drain();
  }

  @Override
  public void subscribe(Subscriber<? super ByteBuf> subscriber) {
    subscriber.onSubscribe(this);
    actual = subscriber;
    drain();
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n)) {
      Operators.addCap(REQUESTED, this, n);
      drain();
    }
  }

  @Override
  public void cancel() {
    close();
  }

  private void drain() {
    if (passes.getAndIncrement() != 0) {
      return;
    }
    int came = 1;
    while (came != 0) {
      pass();
      came = passes.addAndGet(-came);
    }
  }

  private void pass() {
    Subscriber<? super ByteBuf> to = actual;
    while (to != null && !closed && emitted != requested) {
      ByteBuf message = messages.poll();
      if (message == null) {
        break;
      }
      emitted++;
      to.onNext(message);
    }
    if (closed) {
      for (ByteBuf left = messages.poll(); left != null; left = messages.poll()) {
        left.release();
      }
    }
  }
}
