// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

/** Padding that separates the fields of a subclass from the cache lines of the memory before it. */
abstract class CacheLinePadding {
  long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14;
}
