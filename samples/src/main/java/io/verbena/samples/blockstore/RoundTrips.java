// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.samples.report.Progress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Job (a): a client lists and stats, one round trip after the other. */
final class RoundTrips {
  private final BlockClient client;
  private final BlockInfo expected;
  private final Progress.Step step;
  private final long[] nanos;
  private int wrong;

  private RoundTrips(BlockClient client, BlockInfo expected, int count, Progress.Step step) {
    this.client = client;
    this.expected = expected;
    this.step = step;
    this.nanos = new long[count];
  }

  /**
   * @param perSecond round trips per second
   * @param p50Micros the median round trip, in microseconds
   * @param wrong answers that were not as expected
   */
  record Result(double perSecond, double p50Micros, int wrong) {}

  /**
   * Runs the job.
   *
   * @param expected the only block in the store
   * @param count how many round trips
   */
  static Result run(Twin twin, BlockInfo expected, int count, Progress.Step step, Duration limit) {
    BlockClient client = Waits.value(twin.connect(), limit, "connect to " + twin.address());
    RoundTrips job = new RoundTrips(client, expected, count, step);
    long began = System.nanoTime();
    Waits.end(
        Flux.range(0, count).concatMap(job::trip).then(), limit, "round trips, " + twin.name());
    double seconds = (System.nanoTime() - began) / 1e9;
    Waits.end(client.close(), limit, "close");
    Arrays.sort(job.nanos);
    return new Result(count / seconds, job.nanos[count / 2] / 1e3, job.wrong);
  }

  private Mono<Boolean> trip(int index) {
    long began = System.nanoTime();
    Mono<Boolean> answer =
        index % 2 == 0
            ? client.list().map(List.of(expected)::equals)
            : client.stat(expected.name()).map(expected::equals);
    return answer.doOnNext(
        right -> {
          nanos[index] = System.nanoTime() - began;
          if (!right) {
            wrong++;
          }
          step.advance(1);
        });
  }
}
