// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Deadline;
import java.time.Duration;

/** Time limits: generous, as the machine is emulated. */
final class Limits {
  static final Duration CONNECT = Duration.ofMinutes(1);
  static final long CONNECT_NANOS = CONNECT.toNanos();

  /** The limit of a job: with packet loss, rxe waits for timeouts of seconds. */
  static final Duration JOB = Duration.ofMinutes(10);

  private Limits() {}

  /** Returns the deadline of a job that begins now. */
  static Deadline job() {
    return Deadline.in(JOB);
  }
}
