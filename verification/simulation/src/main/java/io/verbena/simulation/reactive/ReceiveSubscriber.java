// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.simulation.scenario.Violation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * Subscribes to the received messages and tracks its demand. Misbehaves if its end requests that;
 * it does not extend {@code BaseSubscriber}, which would catch its exceptions.
 */
final class ReceiveSubscriber implements CoreSubscriber<ByteBuf> {
  private final ConnectionEnd end;
  private @Nullable Subscription subscription;
  private long demand;
  private boolean ended;
  private boolean cancelled;
  private boolean thrown;

  ReceiveSubscriber(ConnectionEnd end) {
    this.end = end;
  }

  @Override
  public void onSubscribe(Subscription given) {
    // Steps of the scenario request messages later.
    subscription = given;
    throwIf(Mischief.THROW_ON_SUBSCRIBE);
  }

  void requestMore(long n) {
    Subscription to = subscription;
    if (!ended && to != null) {
      demand += n;
      to.request(n);
    }
  }

  void cancelSubscription() {
    Subscription from = subscription;
    cancelled = true;
    ended = true;
    if (from != null) {
      from.cancel();
    }
  }

  @Override
  public void onNext(ByteBuf message) {
    if (thrown) {
      message.release();
      return;
    }
    end.verify(
        () -> {
          Violation.require(!ended, "receive: a message after the end", "");
          Violation.require(demand > 0, "receive: a message without demand", "");
        });
    demand--;
    int more = end.onMessage(message);
    throwIf(Mischief.THROW_ON_NEXT);
    end.misbehaveOnNext();
    if (more > 0) {
      requestMore(more);
    }
  }

  @Override
  public void onComplete() {
    if (!thrown) {
      onEnd();
      end.onReceiveEnd();
      throwIf(Mischief.THROW_ON_COMPLETE);
    }
  }

  @Override
  public void onError(Throwable error) {
    if (!thrown) {
      onEnd();
      end.failed("receive", error, false);
      throwIf(Mischief.THROW_ON_ERROR);
    }
  }

  private void onEnd() {
    end.verify(() -> Violation.require(!ended, "receive: ended twice; cancelled:", cancelled));
    ended = true;
  }

  private void throwIf(Mischief mischief) {
    if (end.takeMischief(mischief)) {
      thrown = true;
      ended = true;
      throw new Mischief.Thrown(mischief);
    }
  }

  boolean isEnded() {
    return ended;
  }

  boolean hasNoDemand() {
    return demand == 0;
  }
}
