package io.verbena.simulation.reactive;

import io.verbena.OperationLimitException;
import io.verbena.simulation.scenario.Violation;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;

/** Sees to it that an operation ends once, and not after it was cancelled. */
final class OperationSubscriber<T> extends BaseSubscriber<T> {
  private final String name;
  private final ConnectionEnd side;
  private final Consumer<@Nullable T> then;
  private final Consumer<Boolean> otherwise;
  private final boolean late;
  private @Nullable T value;
  private boolean inParts;
  private boolean over;
  private boolean cancelled;

  /**
   * One that begins now.
   *
   * @param then is told of the value, or null, if it completes
   * @param otherwise is told whether it may have been done, if it does not
   */
  OperationSubscriber(String name, ConnectionEnd side, Consumer<@Nullable T> then, Consumer<Boolean> otherwise) {
    this.name = name;
    this.side = side;
    this.then = then;
    this.otherwise = otherwise;
    late = side.isClosing();
  }

  /** It begins anew again and again, and so may be refused as long as it lasts. */
  OperationSubscriber<T> inParts() {
    inParts = true;
    return this;
  }

  void giveUp() {
    cancelled = true;
    over = true;
    cancel();
    otherwise.accept(true);
  }

  boolean isOver() {
    return over;
  }

  @Override
  protected void hookOnNext(T next) {
    side.claim(() -> Violation.require(!over, name + ": a value after the end,", next));
    value = next;
  }

  @Override
  protected void hookOnComplete() {
    ended();
    side.claim(() -> then.accept(value));
    side.tell("done", name);
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended();
    otherwise.accept(!(error instanceof OperationLimitException));
    side.failed(name, error, late || (inParts && side.isClosing()));
  }

  private void ended() {
    side.claim(() -> Violation.require(!over, name + ": ends again, cancelled", cancelled));
    over = true;
  }

  @Override
  public String toString() {
    return name + (over ? " (over)" : "");
  }
}
