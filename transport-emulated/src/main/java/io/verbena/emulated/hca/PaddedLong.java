// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

abstract class PaddedLongValue extends CacheLinePadding {
  long value;
}

/** A counter on cache lines of its own, with accessors that name their memory order. */
public final class PaddedLong extends PaddedLongValue {
  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(PaddedLongValue.class, "value", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14;

  /** Reads the counter without ordering. */
  public long getOpaque() {
    return (long) VALUE.getOpaque(this);
  }

  /** Reads the counter, ordered before later reads. */
  public long getAcquire() {
    return (long) VALUE.getAcquire(this);
  }

  long getVolatile() {
    return (long) VALUE.getVolatile(this);
  }

  void setOpaque(long newValue) {
    VALUE.setOpaque(this, newValue);
  }

  /** Writes the counter, ordered after earlier writes. */
  public void setRelease(long newValue) {
    VALUE.setRelease(this, newValue);
  }

  long getAndAdd(long delta) {
    return (long) VALUE.getAndAdd(this, delta);
  }

  boolean compareAndSet(long expected, long newValue) {
    return VALUE.compareAndSet(this, expected, newValue);
  }
}
