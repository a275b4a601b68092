package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** One subscriber of what comes, with a demand of its own. */
final class Receiving extends BaseSubscriber<ByteBuf> {
  private final Side side;
  private long demand;
  private boolean over;
  private boolean cancelled;

  Receiving(Side side) {
    this.side = side;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    // Asks when it likes.
  }

  void ask(long n) {
    if (!over) {
      demand += n;
      request(n);
    }
  }

  void giveUp() {
    cancelled = true;
    over = true;
    cancel();
  }

  @Override
  protected void hookOnNext(ByteBuf message) {
    side.claim(
        () -> {
          assertThat(over).as("a message after the end").isFalse();
          assertThat(demand).as("demand when a message comes").isPositive();
        });
    demand--;
    side.received(message);
    if (side.chance(4)) {
      ask(1 + side.upTo(4));
    }
  }

  @Override
  protected void hookOnComplete() {
    ended();
    side.justifyEnd();
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended();
    side.justify("receive", error);
  }

  private void ended() {
    side.claim(() -> assertThat(over).as("receive: over (cancelled: %s)", cancelled).isFalse());
    over = true;
  }

  boolean isOver() {
    return over;
  }

  boolean isStarving() {
    return demand == 0;
  }
}
