package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.simulation.scenario.Violation;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** One subscriber of what comes, with a demand of its own. */
final class ReceiveSubscriber extends BaseSubscriber<ByteBuf> {
  private final ConnectionEnd side;
  private long demand;
  private boolean over;
  private boolean cancelled;

  ReceiveSubscriber(ConnectionEnd side) {
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
          Violation.require(!over, "receive: a message after the end", "");
          Violation.require(demand > 0, "receive: a message that nobody asked for", "");
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
    side.receiveEnds();
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended();
    side.failed("receive", error, false);
  }

  private void ended() {
    side.claim(() -> Violation.require(!over, "receive: ends again, cancelled", cancelled));
    over = true;
  }

  boolean isOver() {
    return over;
  }

  boolean isStarving() {
    return demand == 0;
  }
}
