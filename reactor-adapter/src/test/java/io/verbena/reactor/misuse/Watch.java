// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.verbena.RdmaException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * A subscriber that notes whether its signals obey Reactive Streams: one end, with a typed error.
 */
class Watch implements CoreSubscriber<Object> {
  private final String what;
  private final AtomicInteger ends = new AtomicInteger();
  private final Queue<String> wrongs = new ConcurrentLinkedQueue<>();
  private volatile @Nullable Subscription subscription;
  private volatile boolean released;

  Watch(String what) {
    this.what = what;
  }

  @Nullable Subscription subscription() {
    return subscription;
  }

  @Override
  public void onSubscribe(Subscription newSubscription) {
    if (subscription == null) {
      subscription = newSubscription;
      newSubscription.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(Object item) {
    if (ends.get() > 0 && !released) {
      wrongs.add("an item behind the end: " + item);
    }
    ReferenceCountUtil.release(item);
  }

  @Override
  public void onError(Throwable error) {
    if (!(error instanceof RdmaException)
        && !(error instanceof IllegalReferenceCountException)
        && !(error instanceof IllegalStateException)
        && !Misdeed.isThrown(error)) {
      wrongs.add("an error without a type of its own: " + error);
    }
    end();
  }

  @Override
  public void onComplete() {
    end();
  }

  private void end() {
    if (ends.incrementAndGet() > 1 && !released) {
      wrongs.add("told " + ends.get() + " times that it ended");
    }
  }

  void wrong(String problem) {
    wrongs.add(problem);
  }

  /**
   * Notes that the subscriber has cancelled or refused its subscription: a terminal signal is
   * optional then, and signals in flight may still come.
   */
  void letGo() {
    released = true;
  }

  boolean isEnded() {
    return ends.get() > 0 || released;
  }

  void assertRight() {
    assertThat(wrongs).as(what).isEmpty();
  }

  @Override
  public String toString() {
    return what;
  }
}
