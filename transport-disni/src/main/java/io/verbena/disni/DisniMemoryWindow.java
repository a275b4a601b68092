// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.KeyWords;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/** A memory window ({@code ibv_alloc_mw(3)}). */
final class DisniMemoryWindow implements MemoryWindow {
  private final DisniProtectionDomain domain;
  private final MemoryWindowType type;
  private final long pointer;
  private volatile boolean closed;

  DisniMemoryWindow(DisniProtectionDomain domain, MemoryWindowType type) {
    this.domain = domain;
    this.type = type;
    Block keys = Block.of(KeyWords.values());
    int code = type == MemoryWindowType.TYPE_1 ? 1 : 2;
    long made = domain.device().core().allocateWindow(domain.pointer(), code, keys.address());
    keys.keep();
    pointer = Errno.check("allocate memory window", made);
  }

  long pointer() {
    return pointer;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public MemoryWindowType type() {
    return type;
  }

  @Override
  public synchronized int rkey() {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "key of a memory window: it is closed");
    }
    return domain.device().core().windowKey(pointer);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      domain.device().context().posters().await();
      int result = domain.device().core().deallocateWindow(pointer);
      closed = result >= 0;
      Errno.check("deallocate memory window", result);
      domain.closed(DisniProtectionDomain.Kind.MEMORY_WINDOW);
    }
  }
}
