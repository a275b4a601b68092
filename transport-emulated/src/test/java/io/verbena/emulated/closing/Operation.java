// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.verbs.SendWorkRequest;

/** What is in flight. */
enum Operation {
  SEND,
  SEND_TO_SHARED,
  WRITE,
  WRITE_WITH_IMMEDIATE,
  READ,
  FETCH_AND_ADD,
  COMPARE_AND_SWAP;

  /** Whether the peer's memory is named by a key. */
  boolean namesMemory() {
    return this != SEND && this != SEND_TO_SHARED;
  }

  /** Whether it takes a receive of the peer. */
  boolean takesReceive() {
    return this == SEND || this == SEND_TO_SHARED || this == WRITE_WITH_IMMEDIATE;
  }

  /** Whether it has 8 bytes. */
  boolean isAtomic() {
    return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
  }

  /** Such a request, without its buffers. */
  SendWorkRequest request(SendWorkRequest into, long address, int key) {
    return switch (this) {
      case SEND, SEND_TO_SHARED -> into.send();
      case WRITE -> into.write(address, key);
      case WRITE_WITH_IMMEDIATE -> into.writeWithImmediate(address, key, 7);
      case READ -> into.read(address, key);
      case FETCH_AND_ADD -> into.fetchAndAdd(address, key, 1);
      case COMPARE_AND_SWAP -> into.compareAndSwap(address, key, 0, 1);
    };
  }
}
