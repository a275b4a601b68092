// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import io.netty.buffer.ByteBuf;
import io.verbena.AcceptDecision;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A publisher that misbehaves in the first call of one of its methods. Publishes a few messages,
 * and completes unless the method is its cancel.
 */
final class Supplies<T> implements Publisher<T> {
  /** The limit of messages that are published beyond the demand. */
  private static final int MOST = 1000;

  private final Misuse misuse;
  private final Scene scene;
  private final Class<T> type;
  private final AtomicBoolean committed = new AtomicBoolean();

  private Supplies(Misuse misuse, Scene scene, Class<T> type) {
    this.misuse = misuse;
    this.scene = scene;
    this.type = type;
  }

  /** Returns the messages of a send. */
  static Publisher<ByteBuf> messages(Misuse misuse, Scene scene) {
    return new Supplies<>(misuse, scene, ByteBuf.class);
  }

  /** Returns the publisher of a handler, which never ends. */
  static Publisher<Void> nothing(Misuse misuse, Scene scene) {
    return new Supplies<>(misuse, scene, Void.class);
  }

  /** Returns the publisher of an accept hook, which accepts. */
  static Publisher<AcceptDecision> decisions(Misuse misuse, Scene scene) {
    return new Supplies<>(misuse, scene, AcceptDecision.class);
  }

  private boolean isTimeFor(Signal signal) {
    return misuse.signal() == signal && committed.compareAndSet(false, true);
  }

  private void commit() {
    scene.reached();
    misuse.misdeed().commit(scene, null);
  }

  @Override
  public void subscribe(Subscriber<? super T> subscriber) {
    scene.subscribed();
    if (isTimeFor(Signal.SUBSCRIBE)) {
      commit();
    }
    subscriber.onSubscribe(new Supply(subscriber));
  }

  private final class Supply implements Subscription {
    private final Subscriber<? super T> subscriber;
    private int left = items();
    private boolean over;

    Supply(Subscriber<? super T> subscriber) {
      this.subscriber = subscriber;
    }

    private int items() {
      if (type == ByteBuf.class) {
        return 3;
      }
      return type == AcceptDecision.class ? 1 : 0;
    }

    @Override
    public void request(long count) {
      boolean now = isTimeFor(Signal.REQUEST);
      boolean releases = now && misuse.misdeed().isRelease();
      if (releases) {
        scene.reached();
      } else if (now && misuse.misdeed().isOfPublishers()) {
        scene.reached();
        breakRules(count);
      } else if (now) {
        commit();
      }
      for (long i = 0; i < count && left > 0 && !over; i++) {
        left--;
        T item = item(left);
        if (releases && item instanceof ByteBuf message) {
          releases = false;
          giveAway(message);
        }
        subscriber.onNext(item);
      }
      if (type != Void.class && left == 0 && !over && misuse.signal() != Signal.CANCEL) {
        over = true;
        subscriber.onComplete();
      }
    }

    private T item(int number) {
      return type.cast(type == ByteBuf.class ? scene.message(number) : AcceptDecision.accept());
    }

    private void breakRules(long count) {
      switch (misuse.misdeed()) {
        case EXCEEDS_DEMAND -> {
          for (long i = -1; i < Math.min(count, MOST); i++) {
            subscriber.onNext(item(0));
          }
        }
        case PUBLISHES_NULL -> subscriber.onNext(type.cast(null));
        case ENDS_TWICE -> {
          over = true;
          subscriber.onComplete();
          subscriber.onComplete();
          subscriber.onError(new IllegalStateException("a third end"));
        }
        default -> subscriber.onSubscribe(new Supply(subscriber));
      }
    }

    /** Releases a message that is about to be sent, in the wrong way. */
    private void giveAway(ByteBuf message) {
      if (misuse.misdeed() == Misdeed.RELEASES_ELSEWHERE) {
        misuse.misdeed().release(message);
      } else {
        message.release();
      }
    }

    @Override
    public void cancel() {
      over = true;
      if (isTimeFor(Signal.CANCEL)) {
        commit();
      }
    }
  }
}
