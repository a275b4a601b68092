// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.RemoteMemory;
import io.verbena.samples.report.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Job (e): all clients draw ticket numbers from one counter at the same time. */
final class DrawTickets {
  private DrawTickets() {}

  /**
   * @param perSecond tickets per second, of all clients together
   * @param complete whether each number from the first on was drawn exactly once
   * @param next the next number of the counter
   */
  record Result(double perSecond, boolean complete, long next) {}

  /**
   * Runs the job.
   *
   * @param each tickets of each client
   */
  static Result run(RdmaTwin twin, int clients, int each, Progress.Step step, Duration limit) {
    List<RdmaBlockClient> drawers = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      drawers.add(Waits.value(twin.connect(), limit, "connect to " + twin.address()));
    }
    RemoteMemory counter = Waits.value(drawers.get(0).tickets(), limit, "locate tickets");
    long first = Waits.value(drawers.get(0).draw(counter, 0), limit, "look at the counter");
    long[] tickets = new long[clients * each];
    long began = System.nanoTime();
    Waits.end(
        Flux.range(0, clients)
            .flatMap(i -> draw(drawers.get(i), counter, tickets, i * each, each, step))
            .then(),
        limit,
        "draw tickets");
    double seconds = (System.nanoTime() - began) / 1e9;
    long next = Waits.value(drawers.get(0).draw(counter, 0), limit, "look at the counter");
    for (RdmaBlockClient drawer : drawers) {
      Waits.end(drawer.close(), limit, "close");
    }
    Arrays.sort(tickets);
    long[] expected = LongStream.range(first, first + tickets.length).toArray();
    return new Result(tickets.length / seconds, Arrays.equals(tickets, expected), next - first);
  }

  private static Mono<Void> draw(
      RdmaBlockClient client,
      RemoteMemory counter,
      long[] tickets,
      int from,
      int count,
      Progress.Step step) {
    return Flux.range(from, count)
        .concatMap(
            index ->
                client
                    .draw(counter, 1)
                    .doOnNext(
                        ticket -> {
                          tickets[index] = ticket;
                          step.advance(1);
                        }))
        .then();
  }
}
