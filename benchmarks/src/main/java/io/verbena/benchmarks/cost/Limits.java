// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Deadline;
import java.time.Duration;

/** Time limits: generous, as the machine is emulated. */
final class Limits {
  static final Duration CONNECT = Duration.ofMinutes(1);
  static final long CONNECT_NANOS = CONNECT.toNanos();

  /** At loss, rxe waits out a timeout of seconds for a packet. */
  static final Duration JOB = Duration.ofMinutes(10);

  private Limits() {}

  /** The deadline of a job that begins now. */
  static Deadline job() {
    return Deadline.in(JOB);
  }
}
