// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import io.verbena.samples.report.Report;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

/** The demo's jobs, one after the other: their checks and their figures. */
final class Jobs {
  private final RdmaTwin rdma;
  private final TcpTwin tcp;
  private final BlockInfo block;
  private final Destinations destinations;
  private final Plan plan;
  private final Report report;

  /**
   * @param block the expected block of the store
   * @param destinations a buffer for each reading client
   */
  Jobs(
      RdmaTwin rdma,
      TcpTwin tcp,
      BlockInfo block,
      Destinations destinations,
      Plan plan,
      Report report) {
    this.rdma = rdma;
    this.tcp = tcp;
    this.block = block;
    this.destinations = destinations;
    this.plan = plan;
    this.report = report;
  }

  /**
   * The amount of work.
   *
   * @param rounds measured rounds, after one to warm up
   * @param roundTrips in a round of job (a)
   * @param drawers clients in job (e)
   * @param ticketsEach tickets of each client in job (e)
   * @param window the most messages that an RDMA sender may be ahead of the demand
   * @param limit for each step
   */
  record Plan(
      int rounds, int roundTrips, int drawers, int ticketsEach, int window, Duration limit) {}

  /** Runs all jobs; a job that throws is a failed check, and the others still run. */
  void run() {
    report.attempt("(a)", this::listAndStat);
    report.attempt("(b)", this::readWhole);
    report.attempt("(c)", this::writeCopy);
    report.attempt("(d)", this::stream);
    report.attempt("(e)", this::drawTickets);
  }

  private void listAndStat() {
    Rounds<RoundTrips.Result> results =
        onBoth(
            "(a) list and stat, one client",
            plan.roundTrips(),
            (twin, step) -> RoundTrips.run(twin, block, plan.roundTrips(), step, plan.limit()));
    results.forEach(
        (twin, result) ->
            report.checks().checkEqual("(a) wrong answers, " + twin.name(), 0, result.wrong()));
    add("(a) list and stat: round trips/s", results, RoundTrips.Result::perSecond);
    add("    p50 of a round trip, us", results, RoundTrips.Result::p50Micros);
  }

  private void readWhole() {
    Rounds<ReadWhole.Result> results =
        onBoth(
            "(b) read whole, " + destinations.count() + " clients at a time",
            block.length() * destinations.count(),
            (twin, step) -> ReadWhole.run(twin, block, destinations, step, plan.limit()));
    results.forEach(
        (twin, result) ->
            result.digests().forEach(digest -> checkDigest("(b) read, " + twin.name(), digest)));
    add("(b) read whole, all clients: MB/s", results, ReadWhole.Result::megabytesPerSecond);
    add("    SHA-256 check, not timed above: MB/s", results, ReadWhole.Result::checkedPerSecond);
  }

  /** Runs job (c), on the block that the first client of job (b) has read. */
  private void writeCopy() {
    BlockInfo copy = new BlockInfo(block.name() + ".copy", block.length(), block.sha256());
    try (Progress.Step step =
        report.progress().begin("(c) write a copy, one client", block.length())) {
      WriteCopy.Result result = WriteCopy.run(rdma, copy, destinations.get(0), step, plan.limit());
      report.checks().checkEqual("(c) stored by the server", copy, result.stored());
      report.checks().checkEqual("(c) seen by another client", copy, result.stat());
      report.table().add("(c) write a copy: MB/s", result.megabytesPerSecond());
    }
  }

  private void stream() {
    Rounds<StreamToTwo.Result> results =
        onBoth(
            "(d) stream to a fast and a slow one",
            StreamToTwo.total(block),
            (twin, step) -> StreamToTwo.run(twin, block, destinations, step, plan.limit()));
    results.forEach(
        (twin, result) ->
            result.digests().forEach(digest -> checkDigest("(d) stream, " + twin.name(), digest)));
    for (StreamToTwo.Result result : results.rdma()) {
      report
          .checks()
          .check(
              "(d) messages ahead of the demand: "
                  + result.lead()
                  + " (expected: <= "
                  + plan.window()
                  + ")",
              result.lead() <= plan.window());
    }
    add("(d) stream to a fast one, alone: MB/s", results, StreamToTwo.Result::alone);
    add("    beside a slow one that stalls: MB/s", results, StreamToTwo.Result::beside);
    report
        .table()
        .add(
            "    most messages ahead of the slow one (window " + plan.window() + ")",
            most(results.rdma()),
            most(results.tcp()));
  }

  private void drawTickets() {
    int count = plan.drawers() * plan.ticketsEach();
    try (Progress.Step step =
        report
            .progress()
            .begin("(e) draw tickets, " + plan.drawers() + " clients at a time", count)) {
      DrawTickets.Result result =
          DrawTickets.run(rdma, plan.drawers(), plan.ticketsEach(), step, plan.limit());
      report.checks().check("(e) each ticket drawn exactly once, no gap", result.complete());
      report.checks().checkEqual("(e) tickets drawn in all", (long) count, result.next());
      report
          .table()
          .add("(e) draw tickets, " + plan.drawers() + " clients: tickets/s", result.perSecond());
    }
  }

  private <R> Rounds<R> onBoth(
      String label, long totalOfOne, BiFunction<StreamingTwin, Progress.Step, R> job) {
    try (Progress.Step step =
        report.progress().begin(label, Rounds.total(plan.rounds(), totalOfOne))) {
      return Rounds.run(rdma, tcp, plan.rounds(), step, job);
    }
  }

  private <R> void add(String what, Rounds<R> results, ToDoubleFunction<R> measure) {
    results.addTo(report.table(), what, measure);
  }

  private void checkDigest(String what, Sha256 actual) {
    report.checks().checkEqual(what + ": sha256", block.sha256(), actual);
  }

  private static int most(List<StreamToTwo.Result> results) {
    return results.stream().mapToInt(StreamToTwo.Result::lead).max().orElseThrow();
  }
}
