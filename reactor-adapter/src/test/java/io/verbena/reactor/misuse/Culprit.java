// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Subscription;

/** A subscriber that misbehaves in one callback, the first time that it is called. */
final class Culprit extends Watch {
  private final Misuse misuse;
  private final Scene scene;
  private final AtomicBoolean committed = new AtomicBoolean();

  Culprit(Misuse misuse, Scene scene) {
    super("the culprit");
    this.misuse = misuse;
    this.scene = scene;
  }

  private boolean isTimeFor(Signal signal) {
    return misuse.signal() == signal && committed.compareAndSet(false, true);
  }

  private void commit() {
    scene.reached();
    misuse.misdeed().commit(scene, subscription());
  }

  @Override
  public void onSubscribe(Subscription newSubscription) {
    super.onSubscribe(newSubscription);
    if (isTimeFor(Signal.ON_SUBSCRIBE)) {
      if (misuse.misdeed().isThrow()) {
        letGo();
      }
      commit();
    }
  }

  @Override
  public void onNext(Object item) {
    if (item instanceof RdmaConnection connection) {
      scene.guilty(connection);
    }
    if (item instanceof RdmaServer server) {
      scene.bound(server);
    }
    boolean now = isTimeFor(Signal.ON_NEXT);
    if (now && misuse.misdeed().isRelease() && item instanceof ByteBuf buffer) {
      scene.reached();
      misuse.misdeed().release(buffer);
      return;
    }
    super.onNext(item);
    if (now) {
      if (misuse.operation() == Operation.BIND && misuse.misdeed().isThrow()) {
        // The subscriber throws to the caller of subscribe, so no terminal signal follows.
        letGo();
      }
      commit();
    }
  }

  @Override
  public void onError(Throwable error) {
    super.onError(error);
    if (isTimeFor(Signal.ON_ERROR)) {
      commit();
    }
  }

  @Override
  public void onComplete() {
    super.onComplete();
    if (isTimeFor(Signal.ON_COMPLETE)) {
      commit();
    }
  }
}
