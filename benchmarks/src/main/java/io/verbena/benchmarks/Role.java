// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

/** The role of a participant in the table. */
enum Role {
  /** A limit of the machine; the first limit of a workload is its reference. */
  LIMIT,
  /** The transport of another project. */
  PEER,
  /** Verbena. */
  VERBENA
}
