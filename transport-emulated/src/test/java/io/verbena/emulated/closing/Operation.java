// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.verbs.SendWorkRequest;

/** The operations in flight. */
enum Operation {
  SEND,
  SEND_TO_SHARED,
  WRITE,
  WRITE_WITH_IMMEDIATE,
  READ,
  FETCH_AND_ADD,
  COMPARE_AND_SWAP,
  SEND_WITH_INVALIDATE,
  LOCAL_INVALIDATE,
  DATAGRAM;

  /** Returns whether the operation names the peer's memory by a key. */
  boolean namesMemory() {
    return switch (this) {
      case WRITE, WRITE_WITH_IMMEDIATE, READ, FETCH_AND_ADD, COMPARE_AND_SWAP -> true;
      case SEND, SEND_TO_SHARED, SEND_WITH_INVALIDATE, LOCAL_INVALIDATE, DATAGRAM -> false;
    };
  }

  /** Returns whether the operation consumes a receive of the peer. */
  boolean takesReceive() {
    return switch (this) {
      case SEND, SEND_TO_SHARED, WRITE_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, DATAGRAM -> true;
      case WRITE, READ, FETCH_AND_ADD, COMPARE_AND_SWAP, LOCAL_INVALIDATE -> false;
    };
  }

  /** Returns whether each operation invalidates the key of its own window. */
  boolean invalidates() {
    return this == SEND_WITH_INVALIDATE || this == LOCAL_INVALIDATE;
  }

  /** Returns whether this is an atomic, of 8 bytes. */
  boolean isAtomic() {
    return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
  }

  /**
   * Returns the request without its buffers; the key names the memory or the window to invalidate.
   */
  SendWorkRequest request(SendWorkRequest into, long address, int key) {
    return switch (this) {
      case SEND, SEND_TO_SHARED, DATAGRAM -> into.send();
      case SEND_WITH_INVALIDATE -> into.sendWithInvalidate(key);
      case LOCAL_INVALIDATE -> into.localInvalidate(key);
      case WRITE -> into.write(address, key);
      case WRITE_WITH_IMMEDIATE -> into.writeWithImmediate(address, key, 7);
      case READ -> into.read(address, key);
      case FETCH_AND_ADD -> into.fetchAndAdd(address, key, 1);
      case COMPARE_AND_SWAP -> into.compareAndSwap(address, key, 0, 1);
    };
  }
}
