// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stack for many threads: a thread first gets the item that it pushed last, which is hot in its
 * cache. The thread's id selects a stripe; if that is empty, the thread moves several items there
 * from another stripe at once. {@link #push} and {@link #pop} never wait for a stripe that another
 * thread holds: they skip it.
 *
 * <p>Has no limit of its own; it holds at most the items that exist.
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

  /**
   * Removes and returns an item, or null if it finds none; a stripe that another thread holds may
   * have items.
   */
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
      if (other.size() > 0 && other.tryHold()) {
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

  /** As {@link #pop}, but waits for held stripes: null means that each stripe was empty. */
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

  /** Returns the number of items; it may be outdated on return. */
  int size() {
    int size = 0;
    for (Stripe stripe : stripes) {
      size += stripe.size();
    }
    return size;
  }

  /** Moves everything to {@code drained}. */
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

  /**
   * Returns the stripe of the current thread. Thread ids are consecutive, so few threads have few
   * collisions.
   */
  private static int home() {
    return (int) Thread.currentThread().getId() & MASK;
  }

  @SuppressWarnings("unchecked")
  private T cast(Object item) {
    return (T) item;
  }
}
