// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.OperationLimitException;
import io.verbena.simulation.scenario.Violation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;

/**
 * Subscribes to the result of one operation and checks that the operation ends once, and not after
 * a cancellation.
 */
final class OperationSubscriber<T> extends BaseSubscriber<T> {
  private final String name;
  private final ConnectionEnd end;
  private final Consumer<@Nullable T> onSuccess;
  private final Consumer<Boolean> onFailure;
  private final boolean startedWhileClosing;
  private @Nullable T value;
  private @Nullable Throwable error;
  private boolean inParts;
  private boolean ended;
  private boolean cancelled;

  /**
   * Creates a subscriber for an operation that starts now.
   *
   * @param onSuccess called with the value, or null, on completion
   * @param onFailure called on failure and cancellation, with whether the operation may have been
   *     executed
   */
  OperationSubscriber(
      String name,
      ConnectionEnd end,
      Consumer<@Nullable T> onSuccess,
      Consumer<Boolean> onFailure) {
    this.name = name;
    this.end = end;
    this.onSuccess = onSuccess;
    this.onFailure = onFailure;
    startedWhileClosing = end.isClosing();
  }

  /**
   * Marks an operation that consists of several requests, any of which may be refused once the
   * connection closes.
   */
  OperationSubscriber<T> inParts() {
    inParts = true;
    return this;
  }

  void cancelOperation() {
    cancelled = true;
    ended = true;
    cancel();
    onFailure.accept(true);
  }

  /** Returns the failure of the operation, or null. */
  @Nullable Throwable error() {
    return error;
  }

  boolean isEnded() {
    return ended;
  }

  @Override
  protected void hookOnNext(T next) {
    end.verify(() -> Violation.require(!ended, name + ": a value after the end,", next));
    value = next;
  }

  @Override
  protected void hookOnComplete() {
    onEnd();
    end.verify(() -> onSuccess.accept(value));
    end.trace("done", name);
  }

  @Override
  protected void hookOnError(Throwable thrown) {
    onEnd();
    error = thrown;
    onFailure.accept(!(thrown instanceof OperationLimitException));
    end.failed(name, thrown, startedWhileClosing || (inParts && end.isClosing()));
  }

  private void onEnd() {
    end.verify(() -> Violation.require(!ended, name + ": ended twice; cancelled:", cancelled));
    ended = true;
  }

  @Override
  public String toString() {
    return name + (ended ? " (ended)" : "");
  }
}
