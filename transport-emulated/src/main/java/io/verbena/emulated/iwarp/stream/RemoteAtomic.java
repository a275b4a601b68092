// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.engine.AtomicResult;
import io.verbena.emulated.engine.Grant;
import io.verbena.emulated.engine.Host;
import io.verbena.emulated.iwarp.frame.AtomicOperation;
import io.verbena.emulated.iwarp.frame.AtomicRequest;

/** Does atomics of the peer. */
final class RemoteAtomic {
  private final Host host;
  private final AtomicResult result = new AtomicResult();

  RemoteAtomic(Host host) {
    this.host = host;
  }

  /** Does one; {@link #original} is of use if it is granted. */
  Grant execute(AtomicRequest request) {
    int key = request.tag();
    long address = request.offset();
    if (!request.isPlain()) {
      return executeMasked(request);
    }
    return request.operation() == AtomicOperation.FETCH_ADD
        ? host.fetchAndAdd(key, address, request.data(), result)
        : host.compareAndSwap(key, address, request.compare(), request.data(), result);
  }

  /** Swaps in what the masks make of the value, once nobody else changes it meanwhile. */
  private Grant executeMasked(AtomicRequest request) {
    int key = request.tag();
    long address = request.offset();
    Grant grant = host.fetchAndAdd(key, address, 0, result);
    boolean swapped = false;
    while (grant == Grant.GRANTED && !swapped) {
      long found = result.original();
      grant = host.compareAndSwap(key, address, found, request.after(found), result);
      swapped = result.original() == found;
    }
    return grant;
  }

  /** The value that the last one found. */
  long original() {
    return result.original();
  }
}
