package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;

/** Sees to it that an operation ends once, and not after it was cancelled. */
final class Once<T> extends BaseSubscriber<T> {
  private final String name;
  private final Side side;
  private final Consumer<@Nullable T> then;
  private @Nullable T value;
  private boolean over;
  private boolean cancelled;

  /**
   * @param then is told of the value, or null, if it completes
   */
  Once(String name, Side side, Consumer<@Nullable T> then) {
    this.name = name;
    this.side = side;
    this.then = then;
  }

  void giveUp() {
    cancelled = true;
    over = true;
    cancel();
  }

  boolean isOver() {
    return over;
  }

  @Override
  protected void hookOnNext(T next) {
    side.claim(() -> assertThat(over).as("%s: a value after the end", name).isFalse());
    value = next;
  }

  @Override
  protected void hookOnComplete() {
    ended();
    side.claim(() -> then.accept(value));
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended();
    side.justify(name, error);
  }

  private void ended() {
    side.claim(() -> assertThat(over).as("%s: over (cancelled: %s)", name, cancelled).isFalse());
    over = true;
  }
}
