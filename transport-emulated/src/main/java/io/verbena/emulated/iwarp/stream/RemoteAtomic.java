// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.AtomicResult;
import io.verbena.emulated.engine.Grant;
import io.verbena.emulated.engine.Host;
import io.verbena.emulated.iwarp.frame.AtomicOperation;
import io.verbena.emulated.iwarp.frame.AtomicRequest;
import org.jspecify.annotations.Nullable;

/** Does atomics of the peer. */
final class RemoteAtomic {
  /** How often a masked one is tried before others have their turn. */
  private static final int ATTEMPTS = 64;

  private final Host host;
  private final AtomicResult result = new AtomicResult();

  RemoteAtomic(Host host) {
    this.host = host;
  }

  /**
   * Does one; {@link #original} is of use if it is granted.
   *
   * @return null if threads of the program changed the value between all attempts
   */
  @Nullable Grant execute(AtomicRequest request) {
    int key = request.tag();
    long address = request.offset();
    if (!request.isPlain()) {
      return executeMasked(request);
    }
    return request.operation() == AtomicOperation.FETCH_ADD
        ? host.fetchAndAdd(key, address, request.data(), result)
        : host.compareAndSwap(key, address, request.compare(), request.data(), result);
  }

  /**
   * Swaps in what the masks make of the value, if nobody else changes it meanwhile. That is
   * lock-free: an attempt fails only where another change has succeeded.
   */
  private @Nullable Grant executeMasked(AtomicRequest request) {
    int key = request.tag();
    long address = request.offset();
    Grant grant = host.fetchAndAdd(key, address, 0, result);
    for (int i = 0; i < ATTEMPTS && grant == Grant.GRANTED; i++) {
      long found = result.original();
      grant = host.compareAndSwap(key, address, found, request.after(found), result);
      if (result.original() == found) {
        return grant;
      }
    }
    return grant == Grant.GRANTED ? null : grant;
  }

  /** The value that the last one found. */
  long original() {
    return result.original();
  }
}
