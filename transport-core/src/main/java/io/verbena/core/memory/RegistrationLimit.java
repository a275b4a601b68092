// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.MemoryLimitException;
import io.verbena.core.event.MemoryRefusedEvent;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit on registered memory: counts registered bytes, and refuses bytes beyond the limit.
 * Thread-safe.
 */
final class RegistrationLimit {
  private final long bytes;
  private final AtomicLong used = new AtomicLong();

  RegistrationLimit(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Reserves bytes, before they are registered; returns false and reserves none if they do not fit.
   */
  boolean reserve(long wanted) {
    for (; ; ) {
      long before = used.get();
      if (wanted > bytes - before) {
        return false;
      }
      if (used.compareAndSet(before, before + wanted)) {
        return true;
      }
    }
  }

  void giveBack(long count) {
    used.addAndGet(-count);
  }

  long used() {
    return used.get();
  }

  long bytes() {
    return bytes;
  }

  MemoryLimitException reached(String operation, long wanted) {
    MemoryRefusedEvent.emit(operation, wanted, used.get(), bytes);
    return new MemoryLimitException(
        operation,
        null,
        "bytes: "
            + wanted
            + " beside "
            + used.get()
            + " registered (expected: together <= "
            + bytes
            + "); release buffers and regions, or raise RdmaOptions.maxRegisteredBytes");
  }
}
