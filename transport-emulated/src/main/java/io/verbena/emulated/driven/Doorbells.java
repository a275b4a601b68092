// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A list of the queue pairs that have work for their engines. Any thread may ring, without a lock;
 * a queue pair is in the list at most once, so the number of queue pairs bounds the list. One
 * thread at a time takes the entries, in the order in which they rang.
 */
final class Doorbells {

  /** The entry of a queue pair. */
  static final class Bell {
    private static final VarHandle RUNG;

    static {
      try {
        RUNG = MethodHandles.lookup().findVarHandle(Bell.class, "rung", boolean.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    final DrivenQueuePair pair;
    @Nullable Bell next;

    @SuppressWarnings("UnusedVariable") // through RUNG
    private volatile boolean rung;

    Bell(DrivenQueuePair pair) {
      this.pair = pair;
    }

    private boolean raise() {
      return RUNG.compareAndSet(this, false, true);
    }

    /** Lets the bell be rung again, and makes visible what was done before it was rung. */
    void lower() {
      rung = false;
    }
  }

  private static final VarHandle LAST;

  static {
    try {
      LAST = MethodHandles.lookup().findVarHandle(Doorbells.class, "last", Bell.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile @Nullable Bell last;

  /** Adds a queue pair, unless it is in the list already. */
  void ring(Bell bell) {
    if (bell.raise()) {
      Bell before;
      do {
        before = last;
        bell.next = before;
      } while (!LAST.compareAndSet(this, before, bell));
    }
  }

  boolean isEmpty() {
    return last == null;
  }

  /** Takes all entries, linked in the order in which they rang; returns null if there are none. */
  @Nullable Bell takeAll() {
    if (last == null) {
      return null;
    }
    Bell bell = (Bell) LAST.getAndSet(this, null);
    Bell first = null;
    while (bell != null) {
      Bell before = bell.next;
      bell.next = first;
      first = bell;
      bell = before;
    }
    return first;
  }
}
