// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.simulation.scenario.Violation;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** Subscribes to the received messages and tracks its demand. */
final class ReceiveSubscriber extends BaseSubscriber<ByteBuf> {
  private final ConnectionEnd end;
  private long demand;
  private boolean ended;
  private boolean cancelled;

  ReceiveSubscriber(ConnectionEnd end) {
    this.end = end;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    // Steps of the scenario request messages later.
  }

  void requestMore(long n) {
    if (!ended) {
      demand += n;
      request(n);
    }
  }

  void cancelSubscription() {
    cancelled = true;
    ended = true;
    cancel();
  }

  @Override
  protected void hookOnNext(ByteBuf message) {
    end.verify(
        () -> {
          Violation.require(!ended, "receive: a message after the end", "");
          Violation.require(demand > 0, "receive: a message without demand", "");
        });
    demand--;
    int more = end.onMessage(message);
    if (more > 0) {
      requestMore(more);
    }
  }

  @Override
  protected void hookOnComplete() {
    onEnd();
    end.onReceiveEnd();
  }

  @Override
  protected void hookOnError(Throwable error) {
    onEnd();
    end.failed("receive", error, false);
  }

  private void onEnd() {
    end.verify(() -> Violation.require(!ended, "receive: ended twice; cancelled:", cancelled));
    ended = true;
  }

  boolean isEnded() {
    return ended;
  }

  boolean hasNoDemand() {
    return demand == 0;
  }
}
