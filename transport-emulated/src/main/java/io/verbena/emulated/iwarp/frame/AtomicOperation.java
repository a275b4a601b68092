// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import org.jspecify.annotations.Nullable;

/** The atomic operations, by their code (RFC 7306, section 5.2.1). */
public enum AtomicOperation {
  FETCH_ADD(0),
  COMPARE_SWAP(2);

  final int code;

  AtomicOperation(int code) {
    this.code = code;
  }

  /** Returns the operation of a code, or null: the other codes are reserved. */
  static @Nullable AtomicOperation of(int code) {
    return code == FETCH_ADD.code ? FETCH_ADD : code == COMPARE_SWAP.code ? COMPARE_SWAP : null;
  }
}
