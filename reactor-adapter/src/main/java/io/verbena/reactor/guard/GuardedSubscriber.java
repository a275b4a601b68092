// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/**
 * One of several subscribers of an end. What it throws is dropped, so that the others are signalled
 * too.
 */
final class GuardedSubscriber implements CoreSubscriber<Void> {
  private final CoreSubscriber<? super Void> actual;

  GuardedSubscriber(CoreSubscriber<? super Void> actual) {
    this.actual = actual;
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    actual.onSubscribe(subscription);
  }

  @Override
  public void onNext(Void nothing) {
    throw new IllegalStateException("an end has no items");
  }

  @Override
  public void onComplete() {
    try {
      actual.onComplete();
    } catch (Throwable thrown) {
      FailureGuard.drop(thrown);
    }
  }

  @Override
  public void onError(Throwable error) {
    try {
      actual.onError(error);
    } catch (Throwable thrown) {
      FailureGuard.drop(thrown);
    }
  }
}
