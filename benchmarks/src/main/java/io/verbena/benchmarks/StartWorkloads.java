// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measures;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.UnaryCalls;
import java.time.Duration;

/** The workloads of an interval of a program's first seconds, counted from its first operation. */
final class StartWorkloads {
  private StartWorkloads() {}

  /**
   * Returns round trips of a Netty channel.
   *
   * @param id the begin of the workload's name, which the end of the interval completes
   * @param where which JVMs are new
   * @param leastWarmUp as of {@link Workload}; nothing is warmed up
   * @param size the bytes of a message
   */
  static Workload<PingPong> echo(
      String id, String where, Duration leastWarmUp, int size, Duration from, Duration to) {
    return workload(
        id,
        size + " B echo over Netty " + where,
        leastWarmUp,
        from,
        to,
        (participant, plan) -> Measures.earlyRoundTrips(participant, size, from, to, plan));
  }

  /** Returns unary calls of gRPC; parameters as of {@link #echo}. */
  static Workload<UnaryCalls> calls(
      String id, String where, Duration leastWarmUp, Duration from, Duration to) {
    return workload(
        id,
        "gRPC unary 1 KiB, one at a time, " + where,
        leastWarmUp,
        from,
        to,
        (participant, plan) -> Measures.earlyCalls(participant, from, to, plan));
  }

  private static <P extends Participant> Workload<P> workload(
      String id,
      String title,
      Duration leastWarmUp,
      Duration from,
      Duration to,
      Workload.Measure<P> measure) {
    return new Workload<>(
        id + '-' + to.toMillis(),
        title + ", " + from.toMillis() + " to " + to.toMillis() + " ms",
        "k/s",
        1e-3,
        true,
        leastWarmUp,
        measure);
  }
}
