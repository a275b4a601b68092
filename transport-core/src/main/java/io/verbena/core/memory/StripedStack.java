package io.verbena.core.memory;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stack for many threads: what a thread put back last, it gets first, while it is hot in its
 * cache. Each thread has a stripe of its own, more or less; when that is empty, it fetches some
 * from the others at once. A thread never waits for another: a stripe that is held is passed over.
 *
 * <p>Its size has the bound of what there is to put back.
 */
final class StripedStack<T> {
  private static final int STRIPES =
      Integer.highestOneBit(Math.min(64, 8 * Runtime.getRuntime().availableProcessors()));
  private static final int MASK = STRIPES - 1;
  private static final int MOST_MOVED = 32;

  private final Stripe[] stripes = new Stripe[STRIPES];

  StripedStack() {
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe();
    }
  }

  void push(T item) {
    int at = home();
    for (int tried = 1; ; tried++) {
      Stripe stripe = stripes[at];
      if (stripe.tryHold()) {
        try {
          stripe.push(item);
        } finally {
          stripe.letGo();
        }
        return;
      }
      at = (at + 1) & MASK;
      if ((tried & MASK) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** Answers null if it found nothing; something may be held by another thread just then. */
  @Nullable T pop() {
    int home = home();
    Stripe stripe = stripes[home];
    if (stripe.tryHold()) {
      Object item = stripe.pop();
      stripe.letGo();
      if (item != null) {
        return cast(item);
      }
    }
    return popElsewhere(home);
  }

  private @Nullable T popElsewhere(int home) {
    for (int i = 1; i < STRIPES; i++) {
      Stripe other = stripes[(home + i) & MASK];
      if (!other.looksEmpty() && other.tryHold()) {
        try {
          Object item = other.pop();
          if (item != null) {
            fetch(stripes[home], other);
            return cast(item);
          }
        } finally {
          other.letGo();
        }
      }
    }
    return null;
  }

  private static void fetch(Stripe into, Stripe other) {
    if (into.tryHold()) {
      try {
        into.moveFrom(other, MOST_MOVED);
      } finally {
        into.letGo();
      }
    }
  }

  /** As {@link #pop}, but looks into stripes that are held, too: null means that it was empty. */
  @Nullable T popSurely() {
    for (Stripe stripe : stripes) {
      stripe.hold();
      Object item = stripe.pop();
      stripe.letGo();
      if (item != null) {
        return cast(item);
      }
    }
    return null;
  }

  /** Takes everything out. */
  void drainTo(List<? super T> drained) {
    for (Stripe stripe : stripes) {
      stripe.hold();
      try {
        for (Object item = stripe.pop(); item != null; item = stripe.pop()) {
          drained.add(cast(item));
        }
      } finally {
        stripe.letGo();
      }
    }
  }

  /** Thread ids come one after another, so few threads make few collisions. */
  private static int home() {
    return (int) Thread.currentThread().getId() & MASK;
  }

  @SuppressWarnings("unchecked")
  private T cast(Object item) {
    return (T) item;
  }
}
