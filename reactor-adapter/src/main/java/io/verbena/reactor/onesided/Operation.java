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
 * Whatever happens, it is over only when no work request of it is outstanding.
 *
 * @param <T> its value
 */
abstract class Operation<T> extends Mono<T>
    implements Subscription, LoopTask, Awaited, RequestOwner {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<Operation> MARKS =
      AtomicIntegerFieldUpdater.newUpdater(Operation.class, "marks");

  private static final int SUBSCRIBED = 1;
  private static final int STARTED = 1 << 1;
  private static final int SCHEDULED = 1 << 2;
  private static final int CANCELLED = 1 << 3;

  /** It holds its memory: from now on a cancel releases that, before it {@link #start} does. */
  private static final int HELD = 1 << 4;

  /** The loop is signalling its end to the subscriber; a cancel or watchdog is too late. */
  private static final int TOLD = 1 << 5;

  final OneSidedOperations room;
  final RemoteMemory at;

  private @Nullable CoreSubscriber<? super T> actual;
  private @Nullable LoopTask nextTask;

  /** The next in the {@link OperationQueue} that it waits in. */
  @Nullable Operation<?> nextWaiting;

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

  Operation(OneSidedOperations room, RemoteMemory at) {
    this.room = room;
    this.at = at;
  }

  // ---- what kinds of operation differ in, called on the loop

  /** Another object that does the same, for another subscription. */
  abstract Operation<T> copy();

  /** Returns whether it starts before its value is requested. */
  abstract boolean startsAtOnce();

  /** Takes hold of the caller's memory; in the thread that starts it, before anything else. */
  void hold() {
    // Most hold nothing that they were not given for good.
  }

  /**
   * Checks what it was given and makes its local memory ready.
   *
   * @throws RdmaException if it cannot be done; then {@link #release} follows
   */
  abstract void prepare();

  /** The bytes to move. */
  abstract int length();

  /** Returns the address of the local bytes. */
  abstract long localAddress();

  abstract int localKey();

  /** Fills a request for {@code count} bytes from {@code offset} on. */
  abstract void describe(SendWorkRequest request, int offset, int count);

  /** Signals its value, and its end if that was taken. */
  final void succeed(CoreSubscriber<? super T> to, T value) {
    if (room.guard().tellNext(to, value, operation())) {
      to.onComplete();
    }
  }

  /** Signals success; the memory that it held was handed on or is released by this. */
  abstract void complete(CoreSubscriber<? super T> to);

  /** Releases all memory, whatever a part of that throws. */
  abstract void release();

  /** Releases all memory. What that throws ends the connection, and keeps no signal back. */
  final void releaseGuarded() {
    try {
      release();
    } catch (Throwable thrown) {
      room.guard().broke(thrown);
    }
  }

  /** A request was posted: it uses up what {@link #mayPost} has found. */
  void wasPosted(boolean last) {
    // Most need nothing but the slot.
  }

  /** Returns whether the next request may be posted; the last one may need more than a slot. */
  boolean mayPost(boolean last) {
    return room.slots().mayPost();
  }

  /** All its requests are done; returns whether that is all. */
  boolean isFinished() {
    return true;
  }

  /** Returns whether it waits for the notice to reach the peer. */
  boolean isTelling() {
    return false;
  }

  /** The queue that it waits in. */
  OperationQueue waitingQueue() {
    return room.operations();
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
    boolean inLoop = room.loop().inLoop();
    if (refusal == null && !inLoop) {
      refusal = room.admission().admit(operation());
      outside = refusal == null;
    }
    if (refusal == null && (set(HELD) & CANCELLED) != 0) {
      over = true;
      release();
      if (outside) {
        room.admission().admitted();
      }
    } else if (refusal == null && inLoop) {
      begin();
    } else if (refusal == null) {
      room.loop().schedule(this);
    } else {
      over = true;
      release();
      if (!isCancelled()) {
        room.resources().countFailure(operation(), refusal);
        tellOutside(refusal);
      }
    }
  }

  /** Outside the loop nothing that is thrown can end the connection. */
  private void tellOutside(RdmaException why) {
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
        operation(), room.peer(), null, "the buffer cannot be used: " + why, why);
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
      // It is being started just now, and will find itself cancelled.
      return;
    } else if (room.loop().inLoop()) {
      stop();
    } else {
      room.loop().schedule(this);
    }
  }

  @Override
  public final long patience() {
    return room.resources().operationTimeout().toNanos();
  }

  /**
   * It waits to be begun, for a slot or for the HCA. Its memory stays where it is until the loop
   * goes on: the HCA may have it.
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
        HeldUpLoop.timeout(operation(), room.peer(), room.resources().operationTimeout(), why);
    return () -> {
      // Leaves its queue; nothing if the loop has yet to begin it.
      room.loop().schedule(this);
      room.resources().countFailure(operation(), error);
      tellOutside(error);
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
      room.guard().broke(thrown);
    }
  }

  private void turn() {
    if (outside) {
      outside = false;
      room.admission().admitted();
    }
    if (isCancelled()) {
      stop();
    } else if (!begun) {
      begin();
    }
  }

  private void begin() {
    begun = true;
    RdmaException refusal = room.admission().refuse(operation());
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
    room.start(this);
  }

  /**
   * Posts requests as far as there are slots.
   *
   * @return whether all are posted
   */
  boolean post() {
    int length = length();
    do {
      int count = Math.min(length - posted, room.slots().longestTransfer());
      boolean last = posted + count == length;
      if (!mayPost(last)) {
        return false;
      }
      SendWorkRequest request = room.sends().request();
      describe(request, posted, count);
      request.signaled();
      if (count > 0) {
        request.buffer(localAddress() + posted, count, localKey());
      }
      outstanding++;
      posted += count;
      try {
        room.sends().post(request, this);
      } catch (VerbsException e) {
        outstanding--;
        throw e;
      }
      room.requestPosted();
      wasPosted(last);
    } while (posted < length);
    return true;
  }

  @Override
  public final void overdue(RdmaException why) {
    // Its memory stays the HCA's until the flush; the subscriber need not wait for that.
    if (!over && mark(CANCELLED)) {
      room.resources().countFailure(operation(), why);
      room.guard().tellError(subscriber(), why);
    }
  }

  @Override
  public final void succeeded() {
    room.requestEnded();
    if (--outstanding == 0 && (error != null || isDone())) {
      finish();
    }
  }

  private boolean isDone() {
    return posted == length() && isFinished();
  }

  @Override
  public final void failed(RdmaException why) {
    room.requestEnded();
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

  /** Ends it, as all that it asked of the HCA has ended. */
  final void finish() {
    if (over) {
      return;
    }
    RdmaException why = error;
    if (why != null) {
      end(why);
    } else if (mayTell()) {
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
    if (mayTell()) {
      room.guard().guarded(() -> room.resources().countFailure(operation(), why));
      room.guard().tellError(subscriber(), why);
    }
  }

  /**
   * Returns whether the caller is to signal the end to the subscriber; no other caller does then.
   */
  private boolean mayTell() {
    return (set(TOLD) & CANCELLED) == 0;
  }

  private void stop() {
    if (!over && outstanding == 0 && !isTelling()) {
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
