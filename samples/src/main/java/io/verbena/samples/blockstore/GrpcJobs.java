// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import java.util.function.BiFunction;

/** The demo's jobs on the store behind gRPC: their checks and their figures. */
final class GrpcJobs {
  private final GrpcRdmaTwin rdma;
  private final GrpcTcpTwin tcp;
  private final BlockInfo block;
  private final Destinations destinations;
  private final Jobs.Plan plan;
  private final Report report;

  /**
   * @param block the expected block of the store
   * @param destinations a buffer for each reading client
   */
  GrpcJobs(
      GrpcRdmaTwin rdma,
      GrpcTcpTwin tcp,
      BlockInfo block,
      Destinations destinations,
      Jobs.Plan plan,
      Report report) {
    this.rdma = rdma;
    this.tcp = tcp;
    this.block = block;
    this.destinations = destinations;
    this.plan = plan;
    this.report = report;
  }

  /** Runs all jobs; a job that throws is a failed check, and the others still run. */
  void run() {
    report.attempt("(f)", this::listAndStat);
    report.attempt("(g)", this::readWhole);
  }

  /** Fewer calls, as calls by gRPC take longer. */
  private void listAndStat() {
    int calls = Math.max(1, plan.roundTrips() / 4);
    Rounds<RoundTrips.Result> results =
        onBoth(
            "(f) list and stat by gRPC, one client",
            calls,
            (twin, step) -> RoundTrips.run(twin, block, calls, step, plan.limit()));
    results.forEach(
        (twin, result) ->
            report.checks().checkEqual("(f) wrong answers, " + twin.name(), 0, result.wrong()));
    results.addTo(
        report.table(), "(f) list and stat by gRPC: round trips/s", RoundTrips.Result::perSecond);
    results.addTo(report.table(), "    p50 of a round trip, us", RoundTrips.Result::p50Micros);
  }

  private void readWhole() {
    Rounds<ReadWhole.Result> results =
        onBoth(
            "(g) read whole by gRPC, " + destinations.count() + " clients",
            block.length() * destinations.count(),
            (twin, step) -> ReadWhole.run(twin, block, destinations, step, plan.limit()));
    results.forEach(
        (twin, result) -> result.digests().forEach(digest -> checkDigest(twin, digest)));
    results.addTo(
        report.table(),
        "(g) lease and READ, streamed by gRPC: MB/s",
        ReadWhole.Result::megabytesPerSecond);
  }

  private void checkDigest(Twin twin, Sha256 actual) {
    report.checks().checkEqual("(g) read, " + twin.name() + ": sha256", block.sha256(), actual);
  }

  private <R> Rounds<R> onBoth(
      String label, long totalOfOne, BiFunction<Twin, Progress.Step, R> job) {
    try (Progress.Step step =
        report.progress().begin(label, Rounds.total(plan.rounds(), totalOfOne))) {
      return Rounds.run(rdma, tcp, plan.rounds(), step, job);
    }
  }
}
