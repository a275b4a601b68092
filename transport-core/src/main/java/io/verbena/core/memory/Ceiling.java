package io.verbena.core.memory;

import io.verbena.MemoryLimitException;
import java.util.concurrent.atomic.AtomicLong;

/** Counts registered bytes, and refuses those beyond its limit. Thread-safe. */
final class Ceiling {
  private final long limit;
  private final AtomicLong used = new AtomicLong();

  Ceiling(long limit) {
    this.limit = limit;
  }

  /** Takes these bytes before they are registered; false, and nothing taken, if they do not fit. */
  boolean reserve(long bytes) {
    for (; ; ) {
      long before = used.get();
      if (bytes > limit - before) {
        return false;
      }
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
    }
  }

  void giveBack(long bytes) {
    used.addAndGet(-bytes);
  }

  long used() {
    return used.get();
  }

  long limit() {
    return limit;
  }

  MemoryLimitException reached(String operation, long wanted) {
    return new MemoryLimitException(
        operation,
        null,
        "bytes: "
            + wanted
            + " beside "
            + used.get()
            + " registered (expected: together <= "
            + limit
            + "); release buffers and regions, or raise RdmaOptions.maxRegisteredBytes");
  }
}
