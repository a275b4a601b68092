// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.netty.buffer.ByteBuf;
import io.verbena.meters.Backlog;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/**
 * The frames of a connection that wait for the peer's credits. Any thread offers frames. One thread
 * at a time, which has offered or requested, hands frames to the subscriber, as many as it has
 * requested.
 *
 * <pre>{@code
 * OPEN --complete--> ENDING: takes none any more, hands on what it holds, then completes
 *   |                  |
 *   +------drop--------+---> DROPPING: releases what it holds, then completes
 *   |                  |        |
 *   +------------------+--------+--cancel--> CANCELLED: releases what it holds
 * }</pre>
 */
final class FrameQueue implements Publisher<ByteBuf>, Subscription, Backlog {
  /** The least bytes that a frame counts for: the smallest block of registered memory. */
  static final int LEAST_COST = 256;

  private static final int OPEN = 0;
  private static final int ENDING = 1;
  private static final int DROPPING = 2;
  private static final int CANCELLED = 3;

  private static final int URGENT_CHUNK = 16;
  private static final int CHUNK = 256;

  private static final AtomicIntegerFieldUpdater<FrameQueue> STATE =
      AtomicIntegerFieldUpdater.newUpdater(FrameQueue.class, "state");
  private static final AtomicLongFieldUpdater<FrameQueue> BYTES =
      AtomicLongFieldUpdater.newUpdater(FrameQueue.class, "bytes");
  private static final AtomicLongFieldUpdater<FrameQueue> REQUESTED =
      AtomicLongFieldUpdater.newUpdater(FrameQueue.class, "requested");

  private final long limit;
  private final Queue<ByteBuf> urgent = new MpscUnboundedVarHandleArrayQueue<>(URGENT_CHUNK);
  private final Queue<ByteBuf> others = new MpscUnboundedVarHandleArrayQueue<>(CHUNK);
  private final AtomicInteger passes = new AtomicInteger();
  private volatile int state;
  private volatile long bytes;
  private volatile long requested;
  private volatile @Nullable Subscriber<? super ByteBuf> actual;

  // Only in a pass.
  private long emitted;
  private boolean terminated;

  /**
   * @param limit the most bytes that the queue holds
   */
  FrameQueue(long limit) {
    this.limit = limit;
  }

  /** Returns the most bytes that the queue holds. */
  @Override
  public long limit() {
    return limit;
  }

  /** Returns the bytes that the queue holds. */
  @Override
  public long bytes() {
    return bytes;
  }

  // ---- any thread

  /**
   * Takes a frame over; releases it if the queue takes no more frames.
   *
   * @param ahead whether the frame goes before all that were offered without this flag
   * @return 0; or, if there is no room and the frame was released, the bytes that the queue would
   *     hold with it
   */
  long offer(ByteBuf frame, boolean ahead) {
    if (state != OPEN) {
      frame.release();
      return 0;
    }
    if (!passes.compareAndSet(0, 1)) {
      long refused = enqueue(frame, ahead);
      if (refused == 0) {
        drain();
      }
      return refused;
    }
    long refused = 0;
    if (!handOn(frame)) {
      refused = enqueue(frame, ahead);
      pass();
    }
    leave();
    return refused;
  }

  private long enqueue(ByteBuf frame, boolean ahead) {
    int cost = cost(frame);
    long depth = BYTES.addAndGet(this, cost);
    if (depth > limit) {
      BYTES.addAndGet(this, -cost);
      frame.release();
      return depth;
    }
    (ahead ? urgent : others).add(frame);
    return 0;
  }

  /** Takes over the last frame, after all others and even if there is no room. */
  void completeWith(ByteBuf frame) {
    if (state != OPEN) {
      frame.release();
      return;
    }
    BYTES.addAndGet(this, cost(frame));
    others.add(frame);
    complete();
  }

  /** Takes no more frames. */
  void complete() {
    STATE.compareAndSet(this, OPEN, ENDING);
    drain();
  }

  /** Takes no more frames, and releases those that the queue holds. */
  void drop() {
    if (!STATE.compareAndSet(this, OPEN, DROPPING)) {
      STATE.compareAndSet(this, ENDING, DROPPING);
    }
    drain();
  }

  private static int cost(ByteBuf frame) {
    return Math.max(LEAST_COST, frame.readableBytes());
  }

  // ---- the subscriber, of which there is one

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
    state = CANCELLED;
    drain();
  }

  // ---- one thread at a time

  private void drain() {
    if (passes.getAndIncrement() == 0) {
      pass();
      leave();
    }
  }

  /** Ends a pass, and makes another one for calls that came meanwhile. */
  private void leave() {
    for (int came = passes.addAndGet(-1); came != 0; came = passes.addAndGet(-came)) {
      pass();
    }
  }

  /**
   * Hands a frame directly to the subscriber, past both queues, if it need not wait; most frames
   * need not.
   */
  private boolean handOn(ByteBuf frame) {
    Subscriber<? super ByteBuf> to = actual;
    if (to == null
        || state != OPEN
        || emitted == requested
        || !urgent.isEmpty()
        || !others.isEmpty()) {
      return false;
    }
    emitted++;
    to.onNext(frame);
    return true;
  }

  private void pass() {
    Subscriber<? super ByteBuf> to = actual;
    if (to != null && !terminated) {
      emit(to);
    }
    if (terminated || state >= DROPPING) {
      release();
      if (to != null && !terminated && state == DROPPING) {
        terminated = true;
        to.onComplete();
      }
    }
  }

  private void emit(Subscriber<? super ByteBuf> to) {
    while (state < DROPPING) {
      // Read before the queues: they then hold all frames that were offered before the end.
      boolean ending = state == ENDING;
      ByteBuf frame = emitted == requested ? null : next();
      if (frame == null) {
        if (ending && urgent.isEmpty() && others.isEmpty()) {
          terminated = true;
          to.onComplete();
        }
        return;
      }
      emitted++;
      to.onNext(frame);
    }
  }

  private @Nullable ByteBuf next() {
    ByteBuf frame = urgent.poll();
    if (frame == null) {
      frame = others.poll();
    }
    if (frame != null) {
      BYTES.addAndGet(this, -cost(frame));
    }
    return frame;
  }

  private void release() {
    for (ByteBuf frame = next(); frame != null; frame = next()) {
      frame.release();
    }
  }
}
