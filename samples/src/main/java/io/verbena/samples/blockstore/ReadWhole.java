// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/** Job (b): all clients read a whole block at the same time, and then check it. */
final class ReadWhole {
  private ReadWhole() {}

  /**
   * @param megabytesPerSecond of all clients together, without the check
   * @param checkedPerSecond megabytes per second of the check
   * @param digests of the bytes that each client read
   */
  record Result(double megabytesPerSecond, double checkedPerSecond, List<Sha256> digests) {}

  /**
   * Runs the job.
   *
   * @param into a buffer for each client
   */
  static Result run(
      Twin twin, BlockInfo block, Destinations into, Progress.Step step, Duration limit) {
    into.wipe();
    List<BlockClient> clients = new ArrayList<>();
    for (int i = 0; i < into.count(); i++) {
      clients.add(Waits.value(twin.connect(), limit, "connect to " + twin.address()));
    }
    long began = System.nanoTime();
    Waits.end(
        Flux.range(0, clients.size())
            .flatMap(
                i ->
                    clients
                        .get(i)
                        .read(block.name(), into.get(i))
                        .doOnSuccess(done -> step.advance(block.length())))
            .then(),
        limit,
        "read, " + twin.name());
    long read = System.nanoTime();
    List<Sha256> digests = into.digests();
    long checked = System.nanoTime();
    for (BlockClient client : clients) {
      Waits.end(client.close(), limit, "close");
    }
    double bytes = (double) block.length() * clients.size();
    return new Result(1e3 * bytes / (read - began), 1e3 * bytes / (checked - read), digests);
  }
}
