// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** Kinds of atomic, by perftest's names. */
enum AtomicType {
  CMP_AND_SWAP,
  FETCH_AND_ADD
}
