// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.HcaException;
import io.verbena.RemoteMemory;
import io.verbena.verbs.SendWorkRequest;
import reactor.core.CoreSubscriber;

/** A compare-and-swap or a fetch-and-add. */
final class AtomicOperation extends OneSidedOperation<Long> {
  private final boolean swaps;
  private final long operand;
  private final long swap;
  private int slot;

  private AtomicOperation(
      OneSidedOperations oneSided, RemoteMemory at, boolean swaps, long operand, long swap) {
    super(oneSided, at);
    this.swaps = swaps;
    this.operand = operand;
    this.swap = swap;
  }

  static AtomicOperation compareAndSwap(
      OneSidedOperations oneSided, RemoteMemory at, long expected, long swap) {
    return new AtomicOperation(oneSided, at, true, expected, swap);
  }

  static AtomicOperation fetchAndAdd(OneSidedOperations oneSided, RemoteMemory at, long addend) {
    return new AtomicOperation(oneSided, at, false, addend, 0);
  }

  @Override
  OneSidedOperation<Long> copy() {
    return new AtomicOperation(oneSided, at, swaps, operand, swap);
  }

  @Override
  boolean startsAtOnce() {
    return false;
  }

  @Override
  public String operation() {
    return swaps ? "compareAndSwap" : "fetchAndAdd";
  }

  @Override
  void prepare() {
    String lack = oneSided.slots().lackOfAtomics();
    if (lack != null) {
      throw new HcaException(operation(), oneSided.peer(), null, lack, null);
    }
    RemoteChecks.atomic(oneSided.peer(), operation(), at);
    oneSided.results().prepare();
  }

  @Override
  int length() {
    return Long.BYTES;
  }

  @Override
  long localAddress() {
    return oneSided.results().address(slot);
  }

  @Override
  int localKey() {
    return oneSided.results().lkey();
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    slot = oneSided.sends().nextSlot();
    if (swaps) {
      request.compareAndSwap(at.address(), at.key(), operand, swap);
    } else {
      request.fetchAndAdd(at.address(), at.key(), operand);
    }
  }

  @Override
  void complete(CoreSubscriber<? super Long> to) {
    succeed(to, oneSided.results().get(slot));
  }

  @Override
  void release() {
    // The memory of the result belongs to the slot, and is free when the work request ends.
  }
}
