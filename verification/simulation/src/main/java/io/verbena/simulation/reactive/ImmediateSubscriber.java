package io.verbena.simulation.reactive;

import io.verbena.RdmaConnection.Immediate;
import io.verbena.simulation.scenario.Violation;
import reactor.core.publisher.BaseSubscriber;

/** Hears of what the peer writes with immediate data: each once, in order. */
final class ImmediateSubscriber extends BaseSubscriber<Immediate> {
  private final ConnectionEnd side;
  private boolean over;

  ImmediateSubscriber(ConnectionEnd side) {
    this.side = side;
  }

  @Override
  protected void hookOnNext(Immediate notice) {
    side.claim(
        () -> {
          Violation.require(!over, "immediates: one after the end", notice);
          side.peer().reach().heard(notice);
        });
  }

  @Override
  protected void hookOnComplete() {
    over = true;
    side.receiveEnds();
  }

  @Override
  protected void hookOnError(Throwable error) {
    over = true;
    side.failed("immediates", error, false);
  }
}
