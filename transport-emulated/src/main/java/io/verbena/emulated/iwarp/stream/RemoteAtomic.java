// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.AccessResult;
import io.verbena.emulated.engine.AtomicResult;
import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.iwarp.frame.AtomicOperation;
import io.verbena.emulated.iwarp.frame.AtomicRequest;
import org.jspecify.annotations.Nullable;

/** Executes atomics of the peer. */
final class RemoteAtomic {
  /** The most attempts at a masked atomic in a turn. */
  private static final int ATTEMPTS = 64;

  private final EngineHost host;
  private final AtomicResult result = new AtomicResult();

  RemoteAtomic(EngineHost host) {
    this.host = host;
  }

  /**
   * Executes an atomic; {@link #original} is valid if the result is {@code GRANTED}.
   *
   * @return the result, or null if threads of the program changed the value during each attempt
   */
  @Nullable AccessResult execute(AtomicRequest request) {
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
   * Applies the masks to the value and swaps the result in, if no other thread changes the value
   * meanwhile. This is lock-free: an attempt fails only if another change has succeeded.
   */
  private @Nullable AccessResult executeMasked(AtomicRequest request) {
    int key = request.tag();
    long address = request.offset();
    AccessResult outcome = host.fetchAndAdd(key, address, 0, result);
    for (int i = 0; i < ATTEMPTS && outcome == AccessResult.GRANTED; i++) {
      long found = result.original();
      outcome = host.compareAndSwap(key, address, found, request.after(found), result);
      if (result.original() == found) {
        return outcome;
      }
    }
    return outcome == AccessResult.GRANTED ? null : outcome;
  }

  /** Returns the value that the last atomic found. */
  long original() {
    return result.original();
  }
}
