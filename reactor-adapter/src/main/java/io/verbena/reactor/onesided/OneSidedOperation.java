// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.LocalAccessException;
import io.verbena.RdmaException;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.Awaited;
import io.verbena.core.loop.HeldUp;
import io.verbena.core.loop.LoopTask;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.guard.HeldUpLoop;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * A one-sided operation: the Mono, its only subscription and the record of its work requests in one
 * object. A second subscription makes a second object.
 *
 * <pre>{@code
 * assembled -> subscribed -> waiting -> posted -> over
 *                 |             |          |
 *                 +-------------+----------+-> over: refused, failed, timed out, cancelled
 * }</pre>
 *
 * An operation is over only when none of its work requests is outstanding.
 *
 * @param <T> the type of its value
 */
abstract class OneSidedOperation<T> extends Mono<T>
    implements Subscription, LoopTask, Awaited, RequestOwner {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<OneSidedOperation> MARKS =
      AtomicIntegerFieldUpdater.newUpdater(OneSidedOperation.class, "marks");

  private static final int SUBSCRIBED = 1;
  private static final int STARTED = 1 << 1;
  private static final int SCHEDULED = 1 << 2;
  private static final int CANCELLED = 1 << 3;

  /**
   * The operation holds its memory. From now on a cancel releases that; before, {@link #start}
   * does.
   */
  private static final int HELD = 1 << 4;

  /** The loop is signalling its end to the subscriber; a cancel or watchdog is too late. */
  private static final int TOLD = 1 << 5;

  final OneSidedOperations oneSided;
  final RemoteMemory at;

  private @Nullable CoreSubscriber<? super T> actual;
  private @Nullable LoopTask nextTask;

  /** The next operation in the same {@link OperationQueue}. */
  @Nullable OneSidedOperation<?> nextWaiting;

  private @Nullable RdmaException error;
  private volatile int marks;
  private boolean begun;
  private boolean over;
  private boolean outside;

  /** The tick in which it began to wait. */
  int since;

  /** Its place in the order in which the operations of the connection were begun. */
  long ticket;

  private int posted;
  private int outstanding;

  OneSidedOperation(OneSidedOperations oneSided, RemoteMemory at) {
    this.oneSided = oneSided;
    this.at = at;
  }

  // ---- the differences between kinds of operation; called on the loop

  /** Returns another operation that does the same, for another subscription. */
  abstract OneSidedOperation<T> copy();

  /** Returns whether the operation starts at the subscription, before its value is requested. */
  abstract boolean startsAtOnce();

  /** Retains the caller's memory. Called first, on the thread that starts the operation. */
  void hold() {
    // Most operations own their memory.
  }

  /**
   * Checks the arguments and prepares the local memory.
   *
   * @throws RdmaException if that fails; {@link #release} follows then
   */
  abstract void prepare();

  /** Returns the number of bytes to move. */
  abstract int length();

  /** Returns the address of the local bytes. */
  abstract long localAddress();

  abstract int localKey();

  /** Fills a request for {@code count} bytes from {@code offset} on. */
  abstract void describe(SendWorkRequest request, int offset, int count);

  /** Signals the value, and then completion unless the subscriber threw. */
  final void succeed(CoreSubscriber<? super T> to, T value) {
    if (oneSided.guard().emitNext(to, value, operation())) {
      to.onComplete();
    }
  }

  /** Signals success; hands its memory to the subscriber or releases it. */
  abstract void complete(CoreSubscriber<? super T> to);

  /** Releases all memory, even if a part of that throws. */
  abstract void release();

  /**
   * Releases all memory. If that throws, the connection ends, and the signal that follows is not
   * lost.
   */
  final void releaseGuarded() {
    try {
      release();
    } catch (Throwable thrown) {
      oneSided.guard().broke(thrown);
    }
  }

  /** Called after a request was posted: uses up the credits that {@link #mayPost} has found. */
  void wasPosted(boolean last) {
    // Most operations need nothing but the slot.
  }

  /** Returns whether the next request may be posted; the last one may need more than a slot. */
  boolean mayPost(boolean last) {
    return oneSided.slots().mayPost();
  }

  /** Called when all requests have succeeded; returns whether nothing else is left to be done. */
  boolean isFinished() {
    return true;
  }

  /** Returns whether it waits for the notice to reach the peer. */
  boolean isEmitting() {
    return false;
  }

  /** Returns the queue that the operation waits in. */
  OperationQueue waitingQueue() {
    return oneSided.operations();
  }

  // ---- the Mono

  @Override
  public void subscribe(CoreSubscriber<? super T> subscriber) {
    if (!mark(SUBSCRIBED)) {
      copy().subscribe(subscriber);
      return;
    }
    actual = subscriber;
    try {
      subscriber.onSubscribe(this);
    } catch (Throwable thrown) {
      cancel();
      throw thrown;
    }
    if (startsAtOnce() && mark(STARTED)) {
      start();
    }
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n) && (marks & STARTED) == 0 && mark(STARTED)) {
      start();
    }
  }

  private void start() {
    RdmaException refusal = tryHold();
    boolean inLoop = oneSided.loop().inLoop();
    if (refusal == null && !inLoop) {
      refusal = oneSided.admission().admit(operation());
      outside = refusal == null;
    }
    if (refusal == null && (set(HELD) & CANCELLED) != 0) {
      over = true;
      release();
      if (outside) {
        oneSided.admission().admitted();
      }
    } else if (refusal == null && inLoop) {
      begin();
    } else if (refusal == null) {
      oneSided.loop().schedule(this);
    } else {
      over = true;
      release();
      if (!isCancelled()) {
        oneSided.resources().countFailure(operation(), refusal);
        emitOutside(refusal);
      }
    }
  }

  /**
   * Signals an error outside of the loop, where what the subscriber throws cannot end the
   * connection.
   */
  private void emitOutside(RdmaException why) {
    try {
      subscriber().onError(why);
    } catch (Throwable thrown) {
      FailureGuard.drop(thrown);
    }
  }

  private @Nullable RdmaException tryHold() {
    try {
      hold();
      return null;
    } catch (Throwable e) {
      // The buffer is the user's, and may throw anything.
      return unusable(e);
    }
  }

  final LocalAccessException unusable(Throwable why) {
    return new LocalAccessException(
        operation(), oneSided.peer(), null, "the buffer cannot be used: " + why, why);
  }

  @Override
  public void cancel() {
    int before = set(CANCELLED);
    if ((before & CANCELLED) != 0) {
      return;
    }
    if (mark(STARTED)) {
      // Nothing will ever start it.
      over = true;
      release();
    } else if ((before & HELD) == 0) {
      // Another thread is starting it, and will see the mark.
      return;
    } else if (oneSided.loop().inLoop()) {
      stop();
    } else {
      oneSided.loop().schedule(this);
    }
  }

  @Override
  public final long patience() {
    return oneSided.resources().operationTimeout().toNanos();
  }

  /**
   * Fails an operation that waits for the loop, for a slot or for the HCA. Its memory is kept until
   * the loop goes on, as the HCA may be using it.
   */
  @Override
  public final @Nullable Runnable expire(HeldUp why) {
    int before;
    do {
      before = marks;
      if ((before & (HELD | CANCELLED | TOLD)) != HELD) {
        return null;
      }
    } while (!MARKS.compareAndSet(this, before, before | CANCELLED));
    RdmaException error =
        HeldUpLoop.timeout(
            operation(), oneSided.peer(), oneSided.resources().operationTimeout(), why);
    return () -> {
      // The loop removes it from its queue; if it was not begun, there is nothing to do.
      oneSided.loop().schedule(this);
      oneSided.resources().countFailure(operation(), error);
      emitOutside(error);
    };
  }

  private boolean mark(int bit) {
    return (set(bit) & bit) == 0;
  }

  /** Sets a mark, and returns those that were set before. */
  private int set(int bit) {
    int before;
    do {
      before = marks;
    } while ((before & bit) == 0 && !MARKS.compareAndSet(this, before, before | bit));
    return before;
  }

  private boolean isCancelled() {
    return (marks & CANCELLED) != 0;
  }

  private CoreSubscriber<? super T> subscriber() {
    CoreSubscriber<? super T> to = actual;
    if (to == null) {
      throw new IllegalStateException("not subscribed");
    }
    return to;
  }

  // ---- the loop

  @Override
  public void run() {
    try {
      turn();
    } catch (Throwable thrown) {
      oneSided.guard().broke(thrown);
    }
  }

  private void turn() {
    if (outside) {
      outside = false;
      oneSided.admission().admitted();
    }
    if (isCancelled()) {
      stop();
    } else if (!begun) {
      begin();
    }
  }

  private void begin() {
    begun = true;
    RdmaException refusal = oneSided.admission().refuse(operation());
    if (refusal == null) {
      try {
        prepare();
      } catch (RdmaException e) {
        refusal = e;
      } catch (Throwable e) {
        refusal = unusable(e);
      }
    }
    if (refusal != null) {
      end(refusal);
      return;
    }
    oneSided.start(this);
  }

  /**
   * Posts requests as far as there are slots.
   *
   * @return whether all are posted
   */
  boolean post() {
    int length = length();
    do {
      int count = Math.min(length - posted, oneSided.slots().longestTransfer());
      boolean last = posted + count == length;
      if (!mayPost(last)) {
        return false;
      }
      SendWorkRequest request = oneSided.sends().request();
      describe(request, posted, count);
      request.signaled();
      if (count > 0) {
        request.buffer(localAddress() + posted, count, localKey());
      }
      outstanding++;
      posted += count;
      try {
        oneSided.sends().post(request, this);
      } catch (VerbsException e) {
        outstanding--;
        throw e;
      }
      oneSided.requestPosted();
      wasPosted(last);
    } while (posted < length);
    return true;
  }

  @Override
  public final void overdue(RdmaException why) {
    // Its memory stays the HCA's until the flush; the subscriber need not wait for that.
    if (!over && mark(CANCELLED)) {
      oneSided.resources().countFailure(operation(), why);
      oneSided.guard().emitError(subscriber(), why);
    }
  }

  @Override
  public final void succeeded() {
    oneSided.requestEnded();
    if (--outstanding == 0 && (error != null || isDone())) {
      finish();
    }
  }

  private boolean isDone() {
    return posted == length() && isFinished();
  }

  @Override
  public final void failed(RdmaException why) {
    oneSided.requestEnded();
    outstanding--;
    abort(why);
  }

  /** Ends it with an error, once no request of it is outstanding any more. */
  void abort(RdmaException why) {
    if (error == null) {
      error = why;
    }
    if (outstanding == 0) {
      finish();
    }
  }

  /** Ends it, once all its requests have ended. */
  final void finish() {
    if (over) {
      return;
    }
    RdmaException why = error;
    if (why != null) {
      end(why);
    } else if (mayEmit()) {
      over = true;
      complete(subscriber());
    } else {
      over = true;
      releaseGuarded();
    }
  }

  /** Ends it with an error, when no request of it is outstanding. */
  final void end(RdmaException why) {
    over = true;
    releaseGuarded();
    if (mayEmit()) {
      oneSided.guard().guarded(() -> oneSided.resources().countFailure(operation(), why));
      oneSided.guard().emitError(subscriber(), why);
    }
  }

  /**
   * Claims the signal of the end for the caller; returns false if the operation was cancelled, and
   * needs no signal.
   */
  private boolean mayEmit() {
    return (set(TOLD) & CANCELLED) == 0;
  }

  private void stop() {
    if (!over && outstanding == 0 && !isEmitting()) {
      over = true;
      if (begun) {
        waitingQueue().remove(this);
      }
      releaseGuarded();
    }
  }

  /** Returns whether the operation is over. */
  final boolean isOver() {
    return over;
  }

  @Override
  public final boolean markScheduled() {
    return mark(SCHEDULED);
  }

  @Override
  public final void clearScheduled() {
    int before;
    do {
      before = marks;
    } while (!MARKS.compareAndSet(this, before, before & ~SCHEDULED));
  }

  @Override
  public final @Nullable LoopTask nextTask() {
    return nextTask;
  }

  @Override
  public final void nextTask(@Nullable LoopTask next) {
    nextTask = next;
  }
}
