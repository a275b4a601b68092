// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Predicate;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * The messages of a connection that wait for the peer's credits, in the order in which they were
 * offered. Any thread offers messages. One thread at a time, which has offered, requested or
 * removed, hands messages to the subscriber, as many as it has requested. The queue is unbounded:
 * its owner ensures that it holds only messages of calls in flight.
 */
final class OutboundMessages implements Publisher<ByteBuf>, Subscription {
  private static final AtomicLongFieldUpdater<OutboundMessages> REQUESTED =
      AtomicLongFieldUpdater.newUpdater(OutboundMessages.class, "requested");
  private static final int CHUNK = 64;

  private final Queue<ByteBuf> messages = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
  private final AtomicInteger passes = new AtomicInteger();
  private final Runnable handedOn;
  private volatile boolean closed;
  private volatile @Nullable Predicate<ByteBuf> unwanted;
  private volatile long requested;
  private volatile @Nullable Subscriber<? super ByteBuf> actual;

  // Only in a pass.
  private final Queue<ByteBuf> inspected = new ArrayDeque<>();
  private long emitted;

  /**
   * Creates an empty queue.
   *
   * @param handedOn called after each message that was handed to the subscriber, on the same
   *     thread; must not throw
   */
  OutboundMessages(Runnable handedOn) {
    this.handedOn = handedOn;
  }

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

  /** Removes and releases the waiting messages that are of no use any more. */
  void removeIf(Predicate<ByteBuf> ofNoUse) {
    unwanted = ofNoUse;
    drain();
  }

  /** Takes no more messages, and releases those that the queue holds. Idempotent. */
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
    Predicate<ByteBuf> ofNoUse = unwanted;
    if (ofNoUse != null) {
      unwanted = null;
      remove(ofNoUse);
    }
    Subscriber<? super ByteBuf> to = actual;
    while (to != null && !closed && emitted != requested) {
      ByteBuf message = next();
      if (message == null) {
        break;
      }
      emitted++;
      to.onNext(message);
      handedOn.run();
    }
    if (closed) {
      remove(message -> true);
    }
  }

  private void remove(Predicate<ByteBuf> ofNoUse) {
    for (ByteBuf next = messages.poll(); next != null; next = messages.poll()) {
      inspected.add(next);
    }
    for (Iterator<ByteBuf> each = inspected.iterator(); each.hasNext(); ) {
      ByteBuf message = each.next();
      if (ofNoUse.test(message)) {
        each.remove();
        message.release();
      }
    }
  }

  private @Nullable ByteBuf next() {
    ByteBuf first = inspected.poll();
    return first == null ? messages.poll() : first;
  }
}
