package io.verbena.benchmarks;

/** What a participant is in the table. */
enum Role {
  /** What the machine allows; the first limit of a workload is its reference. */
  LIMIT,
  /** Somebody else's transport. */
  PEER,
  /** Verbena. */
  VERBENA
}
