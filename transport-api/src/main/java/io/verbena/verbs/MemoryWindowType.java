// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The two kinds of memory window. */
public enum MemoryWindowType {
  /**
   * Bound by {@link QueuePair#bindMemoryWindow}; usable through every queue pair of the protection
   * domain.
   */
  TYPE_1,
  /** Bound by a BIND_MW work request; usable only through the queue pair that bound the window. */
  TYPE_2B
}
