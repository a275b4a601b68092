// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Padding before a stripe's fields: the JVM lays out the fields of superclasses first. */
@SuppressWarnings("unused")
abstract class StripePadding {
  private long p0;
  private long p1;
  private long p2;
  private long p3;
  private long p4;
  private long p5;
  private long p6;
  private long p7;
}

/** The fields of a stripe. Only the thread that holds the stripe uses them, except {@code held}. */
abstract class StripeFields extends StripePadding {
  /** Shared by empty stripes: most stripes of most size classes stay empty. */
  private static final @Nullable Object[] NONE = new @Nullable Object[0];

  volatile int held;
  int size;
  @Nullable Object[] items = NONE;
}

/** One stack of a {@link StripedStack}, used only by the thread that holds it. */
@SuppressWarnings("unused")
final class Stripe extends StripeFields {
  private static final int LEAST_ITEMS = 16;
  private static final int SPINS = 100;
  private static final long PARKED_NANOS = 1_000;
  private static final VarHandle HELD;
  private static final VarHandle SIZE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HELD = lookup.findVarHandle(StripeFields.class, "held", int.class);
      SIZE = lookup.findVarHandle(StripeFields.class, "size", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long q0;
  private long q1;
  private long q2;
  private long q3;
  private long q4;
  private long q5;
  private long q6;
  private long q7;

  /** Locks the stripe, unless another thread holds it; returns whether it did. Never waits. */
  boolean tryHold() {
    return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
  }

  /** Locks the stripe. Waits for the holder, for nanoseconds unless the holder was preempted. */
  void hold() {
    for (int spins = 0; !tryHold(); spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARKED_NANOS);
      }
    }
  }

  void letGo() {
    HELD.setRelease(this, 0);
  }

  /** Returns the number of items, as it looks to a thread that does not hold the stripe. */
  int size() {
    return (int) SIZE.getOpaque(this);
  }

  void push(Object item) {
    int at = size;
    if (at == items.length) {
      items = Arrays.copyOf(items, Math.max(LEAST_ITEMS, at << 1));
    }
    items[at] = item;
    SIZE.setOpaque(this, at + 1);
  }

  @Nullable Object pop() {
    int at = size - 1;
    if (at < 0) {
      return null;
    }
    Object item = items[at];
    items[at] = null;
    SIZE.setOpaque(this, at);
    return item;
  }

  /** Moves the upper half of another stripe here, but no more than {@code most}. */
  void moveFrom(Stripe other, int most) {
    for (int left = Math.min((other.size + 1) >> 1, most); left > 0; left--) {
      Object item = other.pop();
      if (item == null) {
        return;
      }
      push(item);
    }
  }
}
