// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The two kinds of memory window. */
public enum MemoryWindowType {
  /** Bound by {@link QueuePair#bindMemoryWindow}, usable through every queue pair of its domain. */
  TYPE_1,
  /** Bound by a BIND_MW work request, usable only through the queue pair that bound it. */
  TYPE_2B
}
