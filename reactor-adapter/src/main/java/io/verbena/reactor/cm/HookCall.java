// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.cm;

import static java.util.Objects.requireNonNull;

import io.verbena.AcceptDecision;
import io.verbena.AcceptHook;
import io.verbena.ConnectRequest;
import io.verbena.reactor.guard.FailureGuard;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.scheduler.Scheduler;

/** One call of an accept hook, which is foreign code: its first answer or failure counts. */
final class HookCall {
  /** Receives the answer. */
  @FunctionalInterface
  interface Listener {
    /**
     * Called once, on any thread.
     *
     * @param decision null if the hook failed
     * @param failure the failure of the hook, or null
     */
    void answered(@Nullable AcceptDecision decision, @Nullable Throwable failure);
  }

  private final AcceptHook hook;
  private final ConnectRequest request;
  private final Listener listener;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final Answer answer = new Answer();
  private volatile @Nullable Disposable task;

  private HookCall(AcceptHook hook, ConnectRequest request, Listener listener) {
    this.hook = hook;
    this.request = request;
    this.listener = listener;
  }

  static HookCall start(
      AcceptHook hook, ConnectRequest request, Scheduler threads, Listener listener) {
    HookCall call = new HookCall(hook, request, listener);
    try {
      call.task = threads.schedule(call::run);
    } catch (Throwable e) {
      // The scheduler has no free thread.
      call.complete(null, e);
    }
    return call;
  }

  private void run() {
    if (answered.get()) {
      // Cancelled before it began.
      return;
    }
    try {
      requireNonNull(hook.decide(request), "the hook returned null").subscribe(answer);
    } catch (Throwable e) {
      complete(null, e);
    }
  }

  private void complete(@Nullable AcceptDecision decision, @Nullable Throwable failure) {
    if (answered.compareAndSet(false, true)) {
      listener.answered(decision, failure);
    }
  }

  /** Cancels the call, and interrupts its thread: its answer is not needed any more. */
  void cancel() {
    if (answered.compareAndSet(false, true)) {
      Disposable running = task;
      if (running != null) {
        running.dispose();
      }
      cancelAnswer();
    }
  }

  /**
   * Cancels the call, but does not interrupt its thread, which may have caused the cancellation.
   */
  void cancelWithoutInterrupt() {
    if (answered.compareAndSet(false, true)) {
      cancelAnswer();
    }
  }

  private void cancelAnswer() {
    try {
      answer.cancel();
    } catch (Throwable e) {
      FailureGuard.drop(e);
    }
  }

  private final class Answer extends BaseSubscriber<AcceptDecision> {
    @Override
    protected void hookOnNext(AcceptDecision decision) {
      complete(decision, null);
    }

    @Override
    protected void hookOnError(Throwable failure) {
      complete(null, failure);
    }

    @Override
    protected void hookOnComplete() {
      complete(null, new IllegalStateException("the hook gave no answer"));
    }
  }
}
