// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.HcaException;
import io.verbena.RemoteMemory;
import io.verbena.verbs.SendWorkRequest;
import reactor.core.CoreSubscriber;

/** A compare-and-swap or a fetch-and-add. */
final class AtomicOperation extends Operation<Long> {
  private final boolean swaps;
  private final long operand;
  private final long swap;
  private int slot;

  private AtomicOperation(
      OneSidedOperations room, RemoteMemory at, boolean swaps, long operand, long swap) {
    super(room, at);
    this.swaps = swaps;
    this.operand = operand;
    this.swap = swap;
  }

  static AtomicOperation compareAndSwap(
      OneSidedOperations room, RemoteMemory at, long expected, long swap) {
    return new AtomicOperation(room, at, true, expected, swap);
  }

  static AtomicOperation fetchAndAdd(OneSidedOperations room, RemoteMemory at, long addend) {
    return new AtomicOperation(room, at, false, addend, 0);
  }

  @Override
  Operation<Long> copy() {
    return new AtomicOperation(room, at, swaps, operand, swap);
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
    if (!room.slots().hasAtomics()) {
      throw new HcaException(operation(), room.peer(), null, "the HCA has no atomics", null);
    }
    RemoteChecks.atomic(room.peer(), operation(), at);
    room.results().prepare();
  }

  @Override
  int length() {
    return Long.BYTES;
  }

  @Override
  long localAddress() {
    return room.results().address(slot);
  }

  @Override
  int localKey() {
    return room.results().lkey();
  }

  @Override
  void describe(SendWorkRequest request, int offset, int count) {
    slot = room.sends().nextSlot();
    if (swaps) {
      request.compareAndSwap(at.address(), at.key(), operand, swap);
    } else {
      request.fetchAndAdd(at.address(), at.key(), operand);
    }
  }

  @Override
  void complete(CoreSubscriber<? super Long> to) {
    succeed(to, room.results().get(slot));
  }

  @Override
  void release() {
    // Its memory is the slot's, which ends with the work request.
  }
}
